/** `npm run build`: bundles the program into `dist/coracle.js`, so that starting it reads few files. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { analyzeMetafile } from 'esbuild'
import { bundle } from './bundle.ts'

const out = join(import.meta.dirname, '..', 'dist')

rmSync(out, { recursive: true, force: true })
const started = performance.now()
const metafile = await bundle(out)
if (process.argv.includes('--analyze')) console.error(await analyzeMetafile(metafile))
console.error(`dist/coracle.js bundled in ${Math.round(performance.now() - started)} ms`)
