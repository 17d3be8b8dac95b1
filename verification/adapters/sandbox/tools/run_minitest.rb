# Runs the tests of Minitest in this folder, and reports them as RSpec reports its own.
require "json"
begin
  require "minitest"
rescue LoadError => error
  warn error.message
  exit 127 # As where no runner is found.
end

# What Minitest tells of each test, kept until all have been told.
class LoomverifyReport < Minitest::AbstractReporter
  def initialize
    super
    @examples = []
  end

  def record(result)
    file, line = result.source_location
    @examples << {
      description: result.name, full_description: "#{result.klass} #{result.name}",
      status: status(result), file_path: file, line_number: line, run_time: result.time,
      exception: exception(result.failure)
    }.compact
  end

  def report
    # Whose tests are another's, of them nothing is known here.
    return if defined?(Test::Unit::AutoRunner)

    File.write(ENV.fetch("LV_REPORT"), JSON.generate(examples: @examples, summary: summary))
    return unless $loomverify_loaded # A file of tests ended before the others were read.

    $stdout.puts "", "loomverify: the test runner came to its end"
    $stdout.flush
  end

  private

  def status(result)
    return "pending" if result.skipped?

    result.passed? ? "passed" : "failed"
  end

  def exception(failure)
    return if failure.nil?

    told = failure.message.dup.force_encoding("UTF-8").scrub("?")
    where = failure.location
    { class: failure.class.name, message: told, backtrace: [where, *failure.backtrace].first(50) }
  end

  def summary
    ends = @examples.map { |one| one[:status] }.tally
    {
      example_count: @examples.size, failure_count: ends.fetch("failed", 0),
      pending_count: ends.fetch("pending", 0), errors_outside_of_examples_count: 0
    }
  end
end

# Minitest asks each of these for its reporter.
module Minitest
  def self.plugin_loomverify_init(_options)
    reporter << LoomverifyReport.new
  end
end
Minitest.extensions << "loomverify"

require "minitest/autorun"
Dir["{test,tests}/**/{test_*,*_test}.rb"].sort.each { |path| require File.expand_path(path) }
$loomverify_loaded = true
