// Run by `npm run openapi`. Writes the client's types, so that they always match `openapi.json`.
import { writeFile } from 'node:fs/promises'
import { generateTypes } from './generate-types.ts'

await writeFile(new URL('../src/api-types.ts', import.meta.url), await generateTypes())
