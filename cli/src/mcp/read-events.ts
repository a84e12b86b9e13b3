/** The service sends no message that is as large. */
const EVENT_CHARS_MAX = 64 * 1024 * 1024

/**
 * Reads the data of server-sent events, each as one text. Stops at the end of the stream. An event without data, such
 * as a heartbeat, is skipped. Throws if an event is larger than `EVENT_CHARS_MAX`.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  let chars = 0
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    // A line that ends with \r may continue with \n in the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?=[^\n])/)
    rest = lines.pop() ?? ''
    if (chars + rest.length > EVENT_CHARS_MAX) throw new Error('The service sent an event that is too large.')
    for (const line of lines) {
      chars += line.length
      if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
      if (line !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
      chars = 0
    }
  }
}
