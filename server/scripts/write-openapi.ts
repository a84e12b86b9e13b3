// `npm run openapi`: writes the public contract, for its difference to be reviewed.
import { writeFile } from 'node:fs/promises'
import { renderOpenapi } from './render-openapi.ts'

await writeFile(new URL('../../openapi.json', import.meta.url), await renderOpenapi())
