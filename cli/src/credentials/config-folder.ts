import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * Returns the folder with the files of this user: `$XDG_CONFIG_HOME/bursar`, or `~/.config/bursar`. A relative
 * `XDG_CONFIG_HOME` is ignored, as the XDG specification asks.
 */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const given = env['XDG_CONFIG_HOME']
  const parent = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.config')
  return join(parent, 'bursar')
}
