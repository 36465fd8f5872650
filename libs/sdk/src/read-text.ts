/**
 * What `read` gives, as text. Never throws: an author's code throws what has no text form (`Object.create(null)`), and errors whose message
 * throws where it is read.
 */
export function readText(read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return "(it could not be read)";
  }
}
