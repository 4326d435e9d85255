import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes an empty directory; `remove` deletes it with all that is in it. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'coracle-store-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
