# Says at its end that RSpec came to its end: where nothing is run, no such hook is either.
RSpec.configure do |config|
  config.after(:suite) do
    $stdout.puts "", "loomverify: the test runner came to its end"
    $stdout.flush
  end
end
