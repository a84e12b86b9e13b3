import { spawn } from 'node:child_process'

/**
 * Opens an address in the browser: with the program in `BROWSER`, or with the system's program. A failure is ignored,
 * because the address is also shown to the person.
 */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const [command, ...args] = browserCommand(env)
  if (command === undefined) return
  const child = spawn(command, [...args, url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

function browserCommand(env: NodeJS.ProcessEnv): readonly string[] {
  const chosen = env['BROWSER']
  if (chosen !== undefined && chosen !== '') return [chosen]
  if (process.platform === 'darwin') return ['open']
  // Windows also has `start`, but it would read the address as a command line, where `&` separates commands.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return ['xdg-open']
}
