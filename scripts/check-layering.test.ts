import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { allowedImports, checkLayering } from './check-layering.ts'

const allowed = { api: [], store: ['api'] }

describe('the layering check', () => {
  let root: string

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'layering-'))
  })

  afterEach(() => rmSync(root, { recursive: true }))

  const add = (name: string, source: string, dependencies: Record<string, string> = {}) => {
    mkdirSync(join(root, name, 'src'), { recursive: true })
    writeFileSync(join(root, name, 'package.json'), JSON.stringify({ dependencies }))
    writeFileSync(join(root, name, 'src', 'index.ts'), source)
  }

  it('accepts a package that imports what it may and declares', () => {
    add('api', 'export const a = 1')
    add('store', "import { a } from '@coracle/api'\nexport { a }", { '@coracle/api': '0.1.0' })
    expect(checkLayering(root, allowed)).toEqual([])
  })

  it.each([
    ["import { a } from '@coracle/store'"],
    ["import type { A } from '@coracle/store'"],
    ["export * from '@coracle/store'"],
    ["import '@coracle/store'"],
    ["const late = await import('@coracle/store')"],
    ["import { a } from '@coracle/store/deep'"],
  ])('refuses %s in a package below', (source) => {
    add('api', source)
    expect(checkLayering(root, allowed)).toEqual(['packages/api/src/index.ts: api may not import store'])
  })

  it('refuses a dependency that is declared but not allowed', () => {
    add('api', '', { '@coracle/store': '0.1.0' })
    expect(checkLayering(root, allowed)).toEqual([
      'packages/api/package.json: declares @coracle/store, which api may not import',
    ])
  })

  it('refuses an import that is allowed but not declared', () => {
    add('store', "import { a } from '@coracle/api'")
    expect(checkLayering(root, allowed)).toEqual([
      'packages/store/src/index.ts: @coracle/api is not among the dependencies of packages/store/package.json',
    ])
  })

  it('refuses a relative import that leaves the package', () => {
    add('api', '')
    add('store', "import { a } from '../../api/src/index.ts'")
    expect(checkLayering(root, allowed)).toEqual([
      'packages/store/src/index.ts: ../../api/src/index.ts leaves the package; import it by its name',
    ])
  })

  it('refuses a package without a place', () => {
    add('extras', '')
    expect(checkLayering(root, allowed)).toEqual([
      'packages/extras: has no place in the layering; give it one in scripts/check-layering.ts',
    ])
  })
})

it('allows what the table of docs/architecture.md says', () => {
  const text = readFileSync(join(import.meta.dirname, '..', 'docs', 'architecture.md'), 'utf8')
  const rows = [...text.matchAll(/^\| \[`([\w-]+)`\]\([^)]+\) +\|[^|]+\| ([^|]+?) +\|$/gm)]
  const above: string[] = []
  const told = rows.map(([, name = '', imports = '']) => {
    const [all, missing = ''] = /^all above(?: but (.+))?$/.exec(imports) ?? []
    const named = imports === '–' ? [] : imports.replaceAll(' and ', ', ').split(', ')
    const allowed = all === undefined ? named : above.filter((each) => !missing.split(', ').includes(each))
    above.push(name)
    return [name, allowed.toSorted()]
  })
  const entries = Object.entries(allowedImports)
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(entries.map(([name, all]) => [name, all.toSorted()])))
})
