import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { alone, packages } from '../vitest.config.ts'

const root = join(import.meta.dirname, '..')

/** Replaces a module, or forgets those that are loaded: files that come later in the same process would get what this one has made of them. */
const changesModules = /\bvi\.(?:doMock|doUnmock|mock|resetModules|unmock)\(/

it('is left with its modules as they are by each file of tests that shares it', () => {
  const shared = globSync([...packages], { cwd: root, exclude: ['**/node_modules/**'] }).filter(
    (path) => !alone.includes(path),
  )
  expect(shared.length).toBeGreaterThan(500)
  expect(shared.filter((path) => changesModules.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
})
