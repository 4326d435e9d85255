/** `npm run picture`: plays a session with the program as it is released, and draws `docs/picture.svg` from it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { record } from './record.ts'
import { session } from './session.ts'
import { terminalSvg } from './svg.ts'

const root = join(import.meta.dirname, '../..')
// Within the workspace, where the bundle finds what it leaves to be installed.
mkdirSync(join(root, 'coverage'), { recursive: true })
const bundled = mkdtempSync(join(root, 'coverage', 'picture-'))
const directory = mkdtempSync(join(tmpdir(), 'picture-'))
try {
  await bundle(bundled, { sourcemap: false })
  const program = join(bundled, 'coracle.js')
  // What is loaded is compiled at the first start, and kept.
  await record([{ command: 'coracle up --memory', until: /ready at/ }], {
    root,
    directory: join(directory, 'warm'),
    program,
  })
  const lines = await record(session, { root, directory: join(directory, 'session'), program })
  const title = 'coracle up, scale, a bad update, why, rollback: a session in a terminal'
  writeFileSync(join(root, 'docs/picture.svg'), terminalSvg(lines, title))
  for (const { kind, text, atMs } of lines)
    console.log(`${String(atMs).padStart(6)} ms  ${kind === 'command' ? '$ ' : ''}${text}`)
} finally {
  for (const each of [bundled, directory]) rmSync(each, { recursive: true, force: true })
}
