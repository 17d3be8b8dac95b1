// Node's own TAP, and before each test a comment that says which file it stands in.
import { tap } from "node:test/reporters";

async function* withFiles(events) {
  for await (const event of events) {
    const { file, nesting } = event.data ?? {};
    if (file && (event.type === "test:pass" || event.type === "test:fail")) {
      yield { type: "test:diagnostic", data: { nesting, message: `loomverify file: ${file}` } };
    }
    yield event;
  }
}

export default (events) => tap(withFiles(events));
