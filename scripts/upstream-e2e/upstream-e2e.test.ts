import { describe, expect, it } from 'vitest'
import { chooseSpecs, focusOf, groupsOf } from './choose.ts'
import { inapplicable } from './inapplicable.ts'
import { parseOptions } from './options.ts'
import { OutputReader, specNamesOf } from './reports.ts'

describe('the names of specs', () => {
  it('are read from a report, with what XML cannot hold', () => {
    const xml = `<testsuite name="Kubernetes e2e suite" tests="2">
      <testcase name="[sig-a] can&#39;t &lt;be&gt; &#x22;drowned&#x22; &amp; out" classname="x" time="0"></testcase>
      <testcase name="[sig-b] works" classname="x"><skipped></skipped></testcase>`
    expect(specNamesOf(xml)).toEqual([`[sig-a] can't <be> "drowned" & out`, '[sig-b] works'])
  })

  it('are looked for by what Go reads as these and no others', () => {
    const names = ['[sig-a] works (well)? 1.2 {x|y}', 'other $^*+ \\']
    const focus = new RegExp(focusOf(names))
    for (const name of names) expect(focus.test(`Kubernetes e2e suite ${name}`)).toBe(true)
    for (const name of ['[sig-a] works (well)? 1.2 {x|y} and more', '[sig-a] works (well)? 112 {x|y}', 'other']) {
      expect(focus.test(name)).toBe(false)
    }
  })
})

describe('of all specs', () => {
  const names = ['[sig-x] b', '[sig-x] a [Serial]', '[sig-x] c [Feature:Gone]', '[sig-x] a', '[sig-x] a']
  const gone = [{ pattern: /Feature:Gone/, reason: 'is gone' }]

  it('those that apply are run, and those that need the cluster for themselves after the others', () => {
    expect(chooseSpecs(names, { all: false }, gone)).toEqual({
      parallel: ['[sig-x] a', '[sig-x] b'],
      serial: ['[sig-x] a [Serial]'],
      leftOut: [{ name: '[sig-x] c [Feature:Gone]', reason: 'is gone' }],
    })
  })

  it('those that a pattern excepts are run', () => {
    const most = [{ pattern: /sig-x/, except: / b$/, reason: 'are not for here' }]
    expect(chooseSpecs(names, { all: false }, most)).toMatchObject({ parallel: ['[sig-x] b'], serial: [] })
  })

  it('those that are asked for are run', () => {
    expect(chooseSpecs(names, { all: true, focus: /c|b$/ }, gone)).toEqual({
      parallel: ['[sig-x] b', '[sig-x] c [Feature:Gone]'],
      serial: [],
      leftOut: [],
    })
  })

  it('each is in one group', () => {
    expect(groupsOf(['a', 'b', 'c', 'd', 'e'], 2)).toEqual([['a', 'd'], ['b', 'e'], ['c']])
    expect(groupsOf([], 2)).toEqual([])
  })
})

describe('what a process prints', () => {
  const read = (...lines: readonly string[]) => {
    const reader = new OutputReader()
    return lines.flatMap((line) => reader.read(line) ?? [])
  }
  const message = (msg: string) => JSON.stringify({ msg, total: 2, completed: 1, skipped: 3, failed: 0 })

  it('tells what became of each spec, with the first thing that was wrong', () => {
    expect(
      read(
        'Nov 22 17:07:27.960: FAIL: failed to patch the test event',
        'Nov 22 17:07:27.961: FAIL: and more',
        message('FAILED [sig-a] says "so"'),
        'SSSS',
        `•${message('PASSED [sig-b] works ')}`,
        message('Test Suite completed'),
      ),
    ).toEqual([
      { name: '[sig-a] says "so"', passed: false, failure: 'failed to patch the test event' },
      { name: '[sig-b] works ', passed: true, failure: '' },
    ])
  })
})

describe('arguments', () => {
  it('say what is run, and how', () => {
    expect(parseOptions(['--binary', 'e2e.test', '--focus', 'sig-cli', '--workers', '2'])).toEqual({
      binary: 'e2e.test',
      kubectl: undefined,
      focus: /sig-cli/,
      all: false,
      list: false,
      workers: 2,
      logs: undefined,
    })
  })

  it.each([
    [[], '--binary is required'],
    [['--binary', 'x', '--workers', '0'], '--workers: a number from 1 to 32, not 0'],
    [['--binary', 'x', '--workers', 'many'], '--workers: a number from 1 to 32, not many'],
    [['--binary', 'x', '--focus', '('], 'Invalid regular expression'],
    [['--binary', 'x', '--colour'], '--colour'],
  ])('%j are refused', (args, problem) => {
    expect(() => parseOptions(args)).toThrow(problem)
  })
})

it('each pattern has a reason, and none says what another says', () => {
  expect(new Set(inapplicable.map(({ pattern }) => String(pattern))).size).toBe(inapplicable.length)
  for (const { reason } of inapplicable) expect(reason).toMatch(/^[a-z].{10,}[^.]$/)
})
