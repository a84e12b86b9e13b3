/** Formats a web resource in one line, without the scheme: `https://api.example/data` as `api.example/data`. */
export function formatResource(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '')
}
