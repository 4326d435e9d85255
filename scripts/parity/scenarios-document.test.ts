import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { suites } from './scenarios.ts'
import { scenariosDocument } from './scenarios-document.ts'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

it('says in docs/upstream-scenarios.md which scenarios are asked (npm run parity writes it anew)', () => {
  expect(read('docs/upstream-scenarios.md')).toBe(scenariosDocument())
})

it('names tests that are there', () => {
  const missing = suites.flatMap(({ scenarios }) =>
    scenarios.flatMap((each) => {
      if ('reason' in each) return []
      const text = read(each.file)
      return each.tests.filter((test) => !text.includes(test)).map((test) => `${each.file}: ${test}`)
    }),
  )
  expect(missing).toEqual([])
})

it('names each scenario of a suite once', () => {
  for (const { scenarios } of suites) {
    const names = scenarios.map(({ name }) => name)
    expect(names).toEqual([...new Set(names)])
  }
})

it('asks every scenario that a test of upstream’s name stands for', () => {
  const names = new Set(
    suites.flatMap(({ scenarios }) => scenarios.flatMap((each) => ('file' in each ? each.tests : []))),
  )
  for (const file of ['scheduling', 'services']) {
    const titles = read(`packages/cluster/test/upstream-${file}.test.ts`).matchAll(/^ {2}it\(['"](.+)['"], async/gm)
    expect([...titles].map(([, title = '']) => title).filter((title) => !names.has(title))).toEqual([])
  }
})
