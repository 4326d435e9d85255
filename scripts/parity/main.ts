/** `npm run parity`: writes `docs/parity.md` and `docs/upstream-scenarios.md` anew. */
import { writeFileSync } from 'node:fs'
import { parityDocument } from './document.ts'
import { scenariosDocument } from './scenarios-document.ts'

writeFileSync(new URL('../../docs/parity.md', import.meta.url), parityDocument())
writeFileSync(new URL('../../docs/upstream-scenarios.md', import.meta.url), scenariosDocument())
