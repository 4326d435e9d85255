import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Indexes } from './look-through-indexes.ts'

let root: string
const pathOf = (file: string): string => join(root, 'packages', file)

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'indexes-'))
  write('api/package.json', '{ "exports": { ".": "./src/index.ts", "./testing": "./src/testing.ts" } }')
  write('api/src/index.ts', "export * from './kinds/index.ts'\nexport { a as b, type T } from './a.ts'\n")
  write('api/src/a.ts', 'export const a = 1\nexport type T = string\n')
  write('api/src/kinds/index.ts', "export * from './pod.ts'\nexport function own() {}\n")
  write(
    'api/src/kinds/pod.ts',
    'export class Pod {}\nexport async function find() {}\nconst local = 1\nexport { local as made }\n',
  )
  write('api/src/testing.ts', 'export let fake = 1\n')
  write('cli/src/main.ts', '')
})
afterEach(() => rmSync(root, { recursive: true }))

function write(file: string, text: string): void {
  mkdirSync(dirname(pathOf(file)), { recursive: true })
  writeFileSync(pathOf(file), text)
}

/** What a source of the command line says in the place of a statement. */
const ledFrom = (statement: string, file = 'cli/src/main.ts'): string =>
  new Indexes(root).lookThrough(pathOf(file), statement).replaceAll(join(root, 'packages'), '')

it.each([
  ["import { Pod } from '@coracle/api'", 'import { Pod } from "/api/src/kinds/pod.ts"'],
  ["import { find as seek } from '@coracle/api'", 'import { find as seek } from "/api/src/kinds/pod.ts"'],
  ["import { b } from '@coracle/api'", 'import { a as b } from "/api/src/a.ts"'],
  ["import { made } from '@coracle/api'", 'import { made } from "/api/src/kinds/pod.ts"'],
  ["import { own } from '@coracle/api'", 'import { own } from "/api/src/kinds/index.ts"'],
  ["import { fake } from '@coracle/api/testing'", 'import { fake } from "/api/src/testing.ts"'],
])('leads %s to where it is made', (statement, expected) => {
  expect(ledFrom(statement)).toBe(expected)
})

it('leads what comes from an index of the same package, too', () => {
  expect(ledFrom("import { Pod } from './kinds/index.ts'", 'api/src/a.ts')).toBe(
    'import { Pod } from "/api/src/kinds/pod.ts"',
  )
})

it('takes values from several places, leaves types out, and keeps the lines', () => {
  expect(ledFrom("import {\n  b,\n  Pod,\n  type T,\n} from '@coracle/api'\nnext()")).toBe(
    'import { a as b } from "/api/src/a.ts"; import { Pod } from "/api/src/kinds/pod.ts"\n\n\n\n\nnext()',
  )
})

it.each([
  "import type { T } from '@coracle/api'",
  "import * as api from '@coracle/api'",
  "import { readFile } from 'node:fs'",
  "import { thing } from '@coracle/api/unknown'",
])('leaves %s as it is', (statement) => {
  expect(ledFrom(statement)).toBe(statement)
})

it('leaves a name to the index that it does not find there', () => {
  expect(ledFrom("import { strange } from '@coracle/api'")).toBe('import { strange } from "@coracle/api"')
})

it('finds where all values of the index of a real package are made', () => {
  const real = join(import.meta.dirname, '..')
  const index = join(real, 'packages/api/src/index.ts')
  const found = new Indexes(real).exportsOf(index)
  for (const { file, name } of found.values()) expect(readFileSync(file, 'utf8')).toContain(name)
  expect(found.get('parseTime')?.file).toBe(join(real, 'packages/api/src/time.ts'))
})
