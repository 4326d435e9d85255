import { describe, expect, it } from 'vitest'
import { builtinControllers } from './builtin-controllers.ts'
import { controllerNames, controllersOf } from './controller-names.ts'

const all = builtinControllers.map(({ name }) => name)

/** Which of the built-in controllers run with this list, but for those that always do. */
const run = (...list: string[]): readonly string[] =>
  all.filter(controllersOf(list)).filter((name) => !always.includes(name))
const always = ['custom-resource-definition']
const mayRun = all.filter((name) => !always.includes(name))

describe('the controllers of a list as --controllers has it', () => {
  it.each<[title: string, list: string[], expected: readonly string[]]>([
    ['all, for *', ['*'], mayRun],
    ['none, for an empty list', [], []],
    ['those that are named', ['job-controller', 'deployment-controller'], ['deployment-controller', 'job-controller']],
    [
      'those that have older names',
      ['cronjob', 'resource-claim-controller'],
      ['cronjob-controller', 'resource-claim-controller', 'resource-claim-templates'],
    ],
    ['all but one', ['*', '-statefulset-controller'], mayRun.filter((name) => name !== 'statefulset-controller')],
    [
      'all but one by its older name, in any place',
      ['-statefulset', '*'],
      mayRun.filter((name) => name !== 'statefulset-controller'),
    ],
    ['none for one that is only left out', ['-job-controller'], []],
    [
      'what the first word about it says',
      ['job-controller', '-job-controller', '-cronjob', 'cronjob'],
      ['job-controller'],
    ],
    [
      'all parts of one',
      ['persistentvolume-binder-controller'],
      ['persistent-volume-binder', 'persistent-volume-phase'],
    ],
    ['what does the work of two, for either', ['*', '-taint-eviction-controller'], mayRun],
    [
      'none of what does the work of two, without both',
      ['*', '-taint-eviction-controller', '-nodelifecycle'],
      mayRun.filter((name) => name !== 'node-controller'),
    ],
    ['nothing for one there is no work for', ['ttl-controller'], []],
  ])('are %s', (_, list, expected) => {
    expect(run(...list)).toEqual(expected)
  })

  it('are refused where a name is not known, by that name', () => {
    expect(() => controllersOf(['*', '-stateful-set'])).toThrow(
      /^"stateful-set" is not in the list of known controllers: .+ statefulset-controller$/,
    )
  })

  it('always have what upstream runs in its API server', () => {
    expect(all.filter(controllersOf([]))).toEqual(always)
  })
})

it('knows controllers that there are, each once', () => {
  const runs = controllerNames.flatMap((each) => each.runs)
  expect([...new Set(runs)].sort()).toEqual([...mayRun].sort())
  const words = controllerNames.flatMap(({ name, alias }) => [name, ...(alias === undefined ? [] : [alias])])
  expect(new Set(words).size).toBe(words.length)
})
