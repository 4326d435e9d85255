import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fingerprintOf } from './bundled-program.ts'

let tree: string
beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'tree-'))
  write('package-lock.json', '{}')
  write('packages/cli/src/main.ts', 'main()')
  write('packages/cli/src/main.test.ts', 'it()')
})
afterEach(() => rmSync(tree, { recursive: true }))

function write(file: string, text: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true })
  writeFileSync(join(tree, file), text)
}

it.each([
  ['a source', 'packages/cli/src/main.ts'],
  ['a new source', 'packages/api/src/kinds/pod.ts'],
  ['how it is started', 'packages/cli/bin/coracle.js'],
  ['what a package is', 'packages/cli/package.json'],
  ['how it is bundled', 'scripts/bundle.ts'],
  ['what is kept of it', 'scripts/bundled-program.ts'],
  ['what the bundler is told of sources', 'scripts/look-through-indexes.ts'],
  ['what stands in which script', 'scripts/parts.ts'],
  ['what is installed', 'package-lock.json'],
])('a bundle is made anew where %s has changed', (_, file) => {
  const before = fingerprintOf(tree)
  write(file, 'something else')
  expect(fingerprintOf(tree)).not.toBe(before)
})

it('a bundle serves as long as only tests change', () => {
  const before = fingerprintOf(tree)
  write('packages/cli/src/main.test.ts', 'something else')
  expect(fingerprintOf(tree)).toBe(before)
})
