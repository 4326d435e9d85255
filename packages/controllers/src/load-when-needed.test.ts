import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { expect, it } from 'vitest'

const root = import.meta.dirname
const listFile = 'load-when-needed.ts'

/** What a file loads late, from the folder of all controllers. */
const loadedBy = (file: string): readonly string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?<!typeof )\bimport\('(\.{1,2}\/[^']+)'\)/g)]
    .map(([, path = '']) => relative(root, join(root, dirname(file), path)))
    .sort()

it('what controllers load late is loaded before runs that are to be alike', () => {
  const files = globSync('**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts') && file !== listFile)
  const late = new Set(files.flatMap(loadedBy))
  expect(late.size).toBeGreaterThan(5)
  expect(loadedBy(listFile)).toEqual([...late].sort())
})
