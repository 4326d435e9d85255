/** `npm run reference`: writes `docs/reference` anew, a page for each command of the program. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { referencePages } from './pages.ts'

const directory = join(import.meta.dirname, '../../docs/reference')
rmSync(directory, { recursive: true, force: true })
mkdirSync(directory)
for (const [name, text] of await referencePages()) writeFileSync(join(directory, name), text)
