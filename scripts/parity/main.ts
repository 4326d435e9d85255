/** `npm run parity`: writes `docs/parity.md` anew. */
import { writeFileSync } from 'node:fs'
import { parityDocument } from './document.ts'

writeFileSync(new URL('../../docs/parity.md', import.meta.url), parityDocument())
