import { expect, it } from 'vitest'
import type { PolicyRule } from '../kinds/rbac/role.ts'
import { processorMs } from '../testing/processor-time.ts'
import { uncoveredRules } from './rule-coverage.ts'

const rule = (resources: readonly string[], verbs: readonly string[], rest: object = {}): PolicyRule => ({
  apiGroups: [''],
  resources,
  verbs,
  ...rest,
})
const path = (...nonResourceURLs: readonly string[]): PolicyRule => ({ nonResourceURLs, verbs: ['get'] })

it.each([
  ['the same', [rule(['pods'], ['get'])], [rule(['pods'], ['get'])], []],
  [
    'each verb and resource by itself',
    [rule(['pods', 'nodes'], ['get'])],
    [rule(['pods'], ['get'])],
    [rule(['nodes'], ['get'])],
  ],
  [
    'what several rules grant together',
    [rule(['pods'], ['get', 'list'])],
    [rule(['pods'], ['get']), rule(['pods'], ['list'])],
    [],
  ],
  [
    'all verbs, resources and groups',
    [rule(['pods'], ['get'])],
    [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    [],
  ],
  [
    'another group',
    [rule(['pods'], ['get'])],
    [rule(['pods'], ['get'], { apiGroups: ['apps'] })],
    [rule(['pods'], ['get'])],
  ],
  ['a subresource of all', [rule(['pods/log'], ['get'])], [rule(['*/log'], ['get'])], []],
  [
    'a subresource is not its object',
    [rule(['pods/log'], ['get'])],
    [rule(['pods'], ['get'])],
    [rule(['pods/log'], ['get'])],
  ],
  ['all names cover one', [rule(['pods'], ['get'], { resourceNames: ['a'] })], [rule(['pods'], ['get'])], []],
  [
    'one name does not cover all',
    [rule(['pods'], ['get'])],
    [rule(['pods'], ['get'], { resourceNames: ['a'] })],
    [rule(['pods'], ['get'])],
  ],
  ['paths, and what begins as they do', [path('/x/y', '/z')], [path('/x/*')], [path('/z')]],
])('%s', (_, rules, others, uncovered) => {
  expect(uncoveredRules(rules, others)).toEqual(uncovered)
})

const many = (prefix: string) => Array.from({ length: 1_000 }, (_, index) => `${prefix}-${index}`)

it('looks at a thousand million verbs of resources and names where it has to, and no further', () => {
  const huge = rule(many('resource'), many('verb'), { resourceNames: many('name') })
  const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
  const looking = () => {
    expect(uncoveredRules([huge], [all])).toEqual([])
    expect(uncoveredRules([huge], [rule(['*'], many('verb').slice(1))], 10)).toHaveLength(10)
    const missing = uncoveredRules([huge], [rule(many('resource').slice(1), ['*']), rule(['*'], many('verb').slice(1))])
    expect(missing).toHaveLength(1_000)
    const names = many('name')
    const halves = [names.slice(0, 500), names.slice(500)].map((resourceNames) => ({ ...all, resourceNames }))
    expect(uncoveredRules([huge], halves)).toEqual([])
    expect(missing[1]).toEqual(rule(['resource-0'], ['verb-0'], { resourceNames: ['name-1'] }))
  }
  expect(processorMs(looking)).toBeLessThan(5_000)
})
