// Run by `npm run openapi`. Writes `openapi.json`, so that a reviewer sees in its diff how the public API has changed.
import { writeFile } from 'node:fs/promises'
import { renderOpenapi } from './render-openapi.ts'

await writeFile(new URL('../../openapi.json', import.meta.url), await renderOpenapi())
