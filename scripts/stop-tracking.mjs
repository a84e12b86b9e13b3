// Loaded by each test process before anything else. It is no TypeScript, because to load the type stripper takes longer
// than this file saves in a short process.
//
// Node's test runner tracks every asynchronous operation, so that a test that is declared in one finds its suite. Our
// test processes declare all tests while their bundle is loaded. Afterwards the bundle calls `stopTracking`, because the
// tracking took about a twentieth of a process's time. An error that is thrown outside of any test still fails the run,
// but it is no longer reported at the test that caused it.
import asyncHooks from 'node:async_hooks'

const { createHook } = asyncHooks
const hooks = []

asyncHooks.createHook = (callbacks) => {
  const hook = createHook(callbacks)
  hooks.push(hook)
  return hook
}

globalThis.stopTracking = () => {
  // Only the test runner may have created a hook: we must not end the one of a library.
  if (hooks.length > 1) throw new Error(`${hooks.length} asynchronous hooks were created while the tests were loaded.`)
  for (const hook of hooks) hook.disable()
  asyncHooks.createHook = createHook
}
