import { join } from 'node:path'
import type { Plugin } from 'vitest/config'

const replacement = join(import.meta.dirname, 'fast-check.ts')

/** Gives tests `fast-check.ts` where they import fast-check. */
export const propertyTests: Plugin = {
  name: 'property-tests',
  enforce: 'pre',
  resolveId: (source, importer) => (source === 'fast-check' && importer !== replacement ? replacement : undefined),
}
