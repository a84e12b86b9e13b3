#!/usr/bin/env node
// The program itself is `dist/main.js`, one file that `npm run build` makes. This file exists in a clone before the
// build, so that npm can link the command. It also makes Node keep the compiled code, which shortens every later start.
import { existsSync } from 'node:fs'
import module from 'node:module'

const program = new URL('../dist/main.js', import.meta.url)

if (existsSync(program)) {
  module.enableCompileCache?.()
  await import(program.href)
} else {
  process.stderr.write(
    'The command line is not built yet. Run this first, in the folder of the project: npm run build\n',
  )
  process.exitCode = 1
}
