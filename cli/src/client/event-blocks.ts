/** One server-sent event (WHATWG HTML, 9.2.6). */
export interface EventBlock {
  event: string;
  data: string;
  id?: string | undefined;
}

/** Takes the text of a stream in pieces of any size and gives the events that are complete. Comments are left out. */
export class EventBlocks {
  #rest = "";

  take(piece: string): EventBlock[] {
    // A piece may end between CR and LF: wait for what follows.
    const whole = this.#rest + piece;
    const usable = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
    const blocks = usable.replaceAll(/\r\n?/g, "\n").split("\n\n");
    this.#rest = (blocks.pop() ?? "") + whole.slice(usable.length);
    return blocks.flatMap(parseBlock);
  }
}

function parseBlock(block: string): EventBlock[] {
  const data: string[] = [];
  let event = "message";
  let id: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data.push(value);
    else if (field === "event") event = value;
    else if (field === "id") id = value;
  }
  return data.length === 0 ? [] : [{ event, data: data.join("\n"), ...(id !== undefined && { id }) }];
}
