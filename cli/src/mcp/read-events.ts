/**
 * Reads the data of server-sent events, each as one text. Stops at the end of the stream. An event without data, such
 * as a heartbeat, is skipped.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    // A line that ends with \r may continue with \n in the next chunk.
    const lines = rest.split(/\r\n|\n|\r(?=[^\n])/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
      if (line !== '' || data.length === 0) continue
      yield data.join('\n')
      data = []
    }
  }
}
