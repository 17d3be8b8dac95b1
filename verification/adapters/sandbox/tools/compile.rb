# Compiles files without running them; says of each that is not Ruby where it is not.
bad = ARGV.reject do |path|
  RubyVM::InstructionSequence.compile_file(path)
  true
rescue SyntaxError, StandardError => error
  told = error.message.scrub("?").strip
  warn told.start_with?(path) ? told : "#{path}:1: #{told}"
  false
end
exit bad.empty?
