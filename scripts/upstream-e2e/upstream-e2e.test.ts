import { describe, expect, it } from 'vitest'
import { chooseSpecs, focusOf, groupsOf } from './choose.ts'
import { generationOf } from './generation.ts'
import { parseOptions } from './options.ts'
import { FirstOutputReader, type OutputReader, SecondOutputReader, specNamesOf } from './reports.ts'
import { waitingImages } from './waiting-images.ts'

describe('the names of specs', () => {
  it('are read from a report, with what XML cannot hold', () => {
    const xml = `<testsuite name="Kubernetes e2e suite" tests="2">
      <testcase name="[sig-a] can&#39;t &lt;be&gt; &#x22;drowned&#x22; &amp; out" classname="x" time="0"></testcase>
      <testcase name="[sig-b] works" classname="x"><skipped></skipped></testcase>`
    expect(specNamesOf(xml)).toEqual([`[sig-a] can't <be> "drowned" & out`, '[sig-b] works'])
  })

  it("are those that Ginkgo's second version marks, where it marks any", () => {
    const xml = `<testcase name="[ReportBeforeSuite]"></testcase><testcase name="[It] [sig-a] works"></testcase>
      <testcase name="[ReportAfterSuite] a report"></testcase>`
    expect(specNamesOf(xml)).toEqual(['[sig-a] works'])
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

describe('a container', () => {
  it.each([
    ['registry.k8s.io/pause:3.10.1', [], [], undefined],
    ['registry.k8s.io/e2e-test-images/agnhost:2.63.0', [], [], undefined],
    ['registry.k8s.io/e2e-test-images/agnhost:2.63.0', [], ['pause'], undefined],
    ['registry.k8s.io/e2e-test-images/agnhost:2.63.0', [], ['env'], 1],
    ['registry.k8s.io/e2e-test-images/agnhost:2.63.0', ['sh'], [], 1],
    ['registry.k8s.io/e2e-test-images/busybox:1.37.0', [], [], 1],
    ['registry.k8s.io/e2e-test-images/busybox:1.37.0', ['sh'], ['-c', 'cat file | head && sleep 1d'], undefined],
    ['registry.k8s.io/e2e-test-images/busybox:1.37.0', ['sh', '-c', 'sleep 1d && cat file'], [], 1],
  ])('of image %s with command %j and arguments %j ends after %s ms', (image, command, args, expected) => {
    const behaviour = waitingImages(() => ({ run: { forMs: 1, exitCodes: [0] } }))
    expect(behaviour({ image, command, args } as never).run?.forMs).toBe(expected)
  })
})

describe('what a process prints', () => {
  const readBy = (reader: OutputReader, lines: readonly string[]) => lines.flatMap((line) => reader.read(line) ?? [])
  const message = (msg: string) => JSON.stringify({ msg, total: 2, completed: 1, skipped: 3, failed: 0 })

  it('tells what became of each spec, with the first thing that was wrong', () => {
    expect(
      readBy(new FirstOutputReader(), [
        'Nov 22 17:07:27.960: FAIL: failed to patch the test event',
        'Nov 22 17:07:27.961: FAIL: and more',
        message('FAILED [sig-a] says "so"'),
        'SSSS',
        `•${message('PASSED [sig-b] works ')}`,
        message('Test Suite completed'),
      ]),
    ).toEqual([
      { name: '[sig-a] says "so"', outcome: 'failed', reason: 'failed to patch the test event' },
      { name: '[sig-b] works ', outcome: 'passed', reason: '' },
    ])
  })

  it("tells what became of each spec in the words of Ginkgo's second version, too", () => {
    const output = `SSS
------------------------------
[sig-a] fails [Conformance] [sig-a, Conformance]
/test/e2e/a.go:77
  STEP: Creating a client @ 11/27/26 01:59:13.628
  [FAILED] in [It] - /test/e2e/a.go:79 @ 11/27/26 01:59:13.693
\u2022 [FAILED] [125.230 seconds]
[sig-a] [It] fails [Conformance] [sig-a, Conformance]
/test/e2e/a.go:77

  [FAILED] Timed out after 120.058s.
  The function returned:
      <*fmt.wrapError | 0x251bde56600>:
      no answer
      {
  In [It] at: /test/e2e/a.go:79 @ 11/27/26 01:59:13.693
------------------------------
------------------------------
[sig-a] fails [sig-a]
/test/e2e/a.go:90
\u2022 [3.340 seconds]
------------------------------
SS
------------------------------
[sig-b] is for others [sig-b]
/test/e2e/b.go:12
  [SKIPPED] in [It] - /test/e2e/b.go:13 @ 11/27/26 01:59:13.693
S [SKIPPED] [0.074 seconds]
[sig-b] [It] is for others [sig-b]
/test/e2e/b.go:12

  [SKIPPED] Only supported for providers [gce]
  In [It] at: /test/e2e/b.go:13 @ 11/27/26 01:59:13.693
------------------------------
------------------------------
[sig-b] breaks off [sig-b]
/test/e2e/b.go:20
\u2022 [PANICKED] [0.1 seconds]
[sig-b] [It] breaks off [sig-b]
/test/e2e/b.go:20
------------------------------
[ReportAfterSuite] a report
[ReportAfterSuite] PASSED [0.000 seconds]`
    const names = ['[sig-a] fails', '[sig-a] fails [Conformance]', '[sig-b] is for others', '[sig-b] breaks off']
    expect(readBy(new SecondOutputReader(names), output.split('\n'))).toEqual([
      {
        name: '[sig-a] fails [Conformance]',
        outcome: 'failed',
        reason: 'Timed out after 120.058s. The function returned: <*fmt.wrapError | 0x251bde56600>: no answer',
      },
      { name: '[sig-a] fails', outcome: 'passed', reason: '' },
      { name: '[sig-b] is for others', outcome: 'skipped', reason: 'Only supported for providers [gce]' },
      { name: '[sig-b] breaks off', outcome: 'failed', reason: '' },
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

describe("upstream's program", () => {
  it.each([
    ['v1.20.2\n', '--ginkgo.dryRun'],
    ['v1.24.17\n', '--ginkgo.dryRun'],
    ['v1.25.0\n', '--ginkgo.dry-run'],
    ['v1.36.2\n', '--ginkgo.dry-run'],
  ])('of %j is asked for its specs with %s', (version, flag) => {
    expect(generationOf(version).dryRunFlag).toBe(flag)
  })

  it('is recognised by its version', () => {
    expect(() => generationOf('flag provided but not defined')).toThrow('--binary prints no version of Kubernetes')
  })

  it.each(['v1.20.2', 'v1.36.2'])(
    'of %s has a reason with each pattern, and none says what another says',
    (version) => {
      const { inapplicable } = generationOf(version)
      expect(new Set(inapplicable.map(({ pattern }) => String(pattern))).size).toBe(inapplicable.length)
      for (const { reason } of inapplicable) expect(reason).toMatch(/^[a-z].{10,}[^.]$/)
    },
  )
})
