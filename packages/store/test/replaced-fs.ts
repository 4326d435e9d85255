import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Puts functions in the place of those of `node:fs`, for everybody in this process who imports them by name, until what it returns is
 * called.
 */
export function replaceFs(replaced: Partial<typeof fs>): () => void {
  const names = Object.keys(replaced) as (keyof typeof fs)[]
  const originals = Object.fromEntries(names.map((name) => [name, fs[name]]))
  const put = (functions: object) => {
    Object.assign(fs, functions)
    syncBuiltinESMExports()
  }
  put(replaced)
  return () => put(originals)
}
