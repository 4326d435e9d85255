import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { bugs } from './bugs.ts'

const packages = join(import.meta.dirname, '../../..')

// That each is noticed: npm run simulate:bugs
describe('deliberate bugs', () => {
  it('are twenty at least, each with a name of its own', () => {
    expect(bugs.length).toBeGreaterThanOrEqual(20)
    expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length)
  })

  it.each(bugs)('$name: is about a text that is there once', ({ file, find, replace }) => {
    const source = readFileSync(join(packages, file), 'utf8')
    expect(source.split(find)).toHaveLength(2)
    expect(replace).not.toBe(find)
  })
})
