import { parseLabelSelector } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { pod } from '../testing/objects.ts'
import { ambiguity } from './selector-problems.ts'

describe('pods that several autoscalers select', () => {
  const key = 'default/web'
  const problem = (
    own: string,
    others: Readonly<Record<string, string>>,
    ...labels: readonly Record<string, string>[]
  ) => {
    const selectors = Object.entries({ [key]: own, ...others }).map(
      ([of, text]) => [of, parseLabelSelector(text)] as const,
    )
    const pods = labels.map((each, index) => pod(`p${index}`, { labels: each }))
    return ambiguity(key, own, pods, new Map(selectors))
  }
  const web = { app: 'web' }
  const front = { app: 'web', tier: 'front' }

  it('are told of, with all who select them, by their names', () => {
    const message = 'pods by selector app=web are controlled by multiple HPAs: [default/a default/web default/x]'
    expect(problem('app=web', { 'default/x': 'tier=front', 'default/a': 'app' }, web, front)).toEqual({
      reason: 'AmbiguousSelector',
      message,
      event: { reason: 'AmbiguousSelector', message },
    })
  })

  it.each([
    ['tier=front', 'another label'],
    ['tier==front', 'another label, in other words'],
    ['app!=db', 'another value than some'],
    ['app in (web)', 'one of some values'],
    ['app=web,tier=front', 'the same and more'],
  ])('are told of where the other selects by %s: %s', (other) => {
    expect(problem('app=web', { 'default/x': other }, front)).toBeDefined()
  })

  it('are told of where one asks for several values of the label for which the other asks', () => {
    expect(problem('app in (db, web)', { 'default/x': 'app=web' }, web)).toBeDefined()
  })

  it.each([
    ['app=db', front],
    ['app in (db)', front],
    ['tier=front', web],
  ])('are none where the other selects by %s and the pod has %j', (other, labels) => {
    expect(problem('app=web', { 'default/x': other }, labels)).toBeUndefined()
  })

  it('are none where there are no pods, or no other autoscaler', () => {
    expect(problem('app=web', { 'default/x': 'tier=front' })).toBeUndefined()
    expect(problem('app=web', {}, web)).toBeUndefined()
  })
})
