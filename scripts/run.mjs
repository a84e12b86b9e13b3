// Starts a program, in JavaScript or TypeScript: `node scripts/run.mjs <file> [arguments]`. If this Node is too old to
// run the program, finds a newer one. Any old Node must be able to parse this file. Otherwise it would report a syntax
// error instead of our message about the version. So this file uses no top-level await, no `?.`, no `node:` import and
// no package.
import { spawn, spawnSync } from 'child_process'
import { existsSync } from 'fs'
import module from 'module'
import { constants } from 'os'
import { dirname, join, resolve } from 'path'
import { fileURLToPath, pathToFileURL } from 'url'

/** The first Node version that strips types without a flag. `engines` in package.json has the same minimum. */
const NODE_MIN = [22, 18]
const VERSION_CHECK_TIMEOUT_MS = 10000
const FORWARDED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** The folder for stripped and compiled code. */
const COMPILE_CACHE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules', '.cache', 'bursar')
/** Hides a warning of some Node versions that node:sqlite and type stripping are experimental. */
const QUIET_FLAG = '--disable-warning=ExperimentalWarning'

function isNewEnough(version) {
  const parts = version.split('.').map(Number)
  return parts[0] > NODE_MIN[0] || (parts[0] === NODE_MIN[0] && parts[1] >= NODE_MIN[1])
}

/**
 * Returns the path of a Node that npm installed in the project, or undefined. Also finds that Node in its platform
 * package, if npm has not linked it.
 */
function findInstalledNode() {
  const modules = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules')
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const candidates = [
    join(modules, '.bin', name),
    join(modules, 'node-' + platform + '-' + process.arch, 'bin', name),
    join(modules, 'node', 'bin', name),
  ]
  return candidates.find((candidate) => {
    if (!existsSync(candidate)) return false
    const answer = spawnSync(candidate, ['-p', 'process.versions.node'], {
      encoding: 'utf8',
      timeout: VERSION_CHECK_TIMEOUT_MS,
    })
    return answer.status === 0 && isNewEnough(answer.stdout.trim())
  })
}

function fail(sentence) {
  process.stderr.write(sentence + '\n')
  process.exit(1)
}

/**
 * Makes Node cache the stripped and compiled code in the project's folder, for this process and its children. The next
 * start takes half the time and 25 MiB less memory, because it does not load the type stripper. The returned function
 * writes the cache. It is called after the start, so that processes that start later find the cache.
 */
function useCompileCache() {
  if (module.enableCompileCache === undefined || module.flushCompileCache === undefined) return () => {}
  module.enableCompileCache(COMPILE_CACHE)
  process.env.NODE_COMPILE_CACHE = COMPILE_CACHE
  return module.flushCompileCache
}

/** Runs the program in this process, so that signals reach it directly. */
function runHere(file) {
  const emitWarning = process.emitWarning.bind(process)
  process.emitWarning = function (warning, type, ...rest) {
    const kind = type !== null && typeof type === 'object' ? type.type : type
    if (kind !== 'ExperimentalWarning') emitWarning(warning, type, ...rest)
  }
  process.argv.splice(1, 2, file)
  const saveCompileCache = useCompileCache()
  void import(pathToFileURL(file).href).then(() => saveCompileCache())
}

/**
 * Runs the program with another Node. The flags for memory that this process was started with apply to the program too,
 * and so does the compile cache.
 */
function runWith(node, file, args) {
  const flags = process.execArgv.filter((flag) => flag.startsWith('--max-') || flag === '--expose-gc')
  const env = Object.assign({ NODE_COMPILE_CACHE: COMPILE_CACHE }, process.env)
  const child = spawn(node, flags.concat([QUIET_FLAG, file], args), { stdio: 'inherit', env })
  const forward = (signal) => {
    // After Ctrl-C, the terminal itself sends SIGINT to the child. We do not forward the signal then, because many
    // programs exit immediately if they receive a second one.
    const sentByTerminal = signal === 'SIGINT' && process.stdin.isTTY
    if (!sentByTerminal) child.kill(signal)
  }
  FORWARDED_SIGNALS.forEach((signal) => process.on(signal, forward))
  child.on('error', (error) => fail('Could not start ' + node + ': ' + error.message))
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

function main() {
  const target = process.argv[2]
  if (target === undefined) return fail('Usage: node scripts/run.mjs <file> [arguments]')
  const file = resolve(target)
  if (isNewEnough(process.versions.node)) return runHere(file)
  const node = findInstalledNode()
  if (node !== undefined) return runWith(node, file, process.argv.slice(3))
  return fail(
    'Bursar needs Node.js ' +
      NODE_MIN.join('.') +
      ' or newer, but this is ' +
      process.versions.node +
      ' and `npm ci` installed none for ' +
      process.platform +
      '-' +
      process.arch +
      ': install a newer Node.js and start again.',
  )
}

main()
