import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  columnNames,
  created,
  type Draft,
  decoded,
  problemsOfCreate,
  problemsOfUpdate,
  row,
} from '../../../../test/requests.ts'
import { describeFieldError } from '../../../field-error.ts'
import { loadStructForms } from '../../../internal-structs/struct-value.ts'
import { parseTime } from '../../../time.ts'
import { jobs } from './job.ts'
import { dependenciesOf, dependsOnAnnotation, findCycle } from './job-dependencies.ts'
import { addIndexes, checkIndexes, countIndexes, formatIndexes, hasIndex, parseIndexes } from './job-indexes.ts'

beforeAll(loadStructForms)

const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } }
const metadata = { name: 'x', uid: 'u1' }
const draft = (spec: Draft = {}): Draft => ({ metadata, spec: { template, ...spec } })
const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 }

describe('defaults of a job', () => {
  it('are one pod that must succeed, and six failures', () => {
    expect(decoded(jobs, draft()).spec).toMatchObject({
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      manualSelector: false,
      podReplacementPolicy: 'TerminatingOrFailed',
    })
  })

  it.each<readonly [Draft, Draft]>([
    [{ completions: 4 }, { completions: 4, parallelism: 1 }],
    [{ ...indexed, backoffLimitPerIndex: 1 }, { backoffLimit: 2147483647 }],
    [{ podFailurePolicy: { rules: [] } }, { podReplacementPolicy: 'Failed' }],
  ])('make of %j %j', (spec, expected) => {
    expect(decoded(jobs, draft(spec)).spec).toMatchObject(expected)
  })

  it('do not limit a queue of work by a number', () => {
    expect(decoded(jobs, draft({ parallelism: 4 })).spec.completions).toBeUndefined()
  })
})

describe('the selector of a new job', () => {
  const generated = {
    'batch.kubernetes.io/controller-uid': 'u1',
    'batch.kubernetes.io/job-name': 'x',
    'controller-uid': 'u1',
    'job-name': 'x',
  }

  it('finds the pods of this job and no others', () => {
    const job = created(jobs, draft())
    expect(job.spec.selector).toEqual({ matchLabels: { 'batch.kubernetes.io/controller-uid': 'u1' } })
    expect(job.spec.template.metadata?.labels).toEqual(generated)
    expect(job.metadata.labels).toEqual(generated)
    expect(job.status).toEqual({})
  })

  it('leaves labels of its own alone', () => {
    const labelled = { ...template, metadata: { labels: { app: 'a' } } }
    expect(created(jobs, draft({ template: labelled })).metadata.labels).toEqual({ app: 'a', ...generated })
    const own = { ...draft({ template: labelled }), metadata: { ...metadata, labels: { tier: 'back' } } }
    expect(created(jobs, own).metadata.labels).toEqual({ tier: 'back' })
  })

  it('may be given', () => {
    const selector = { matchLabels: { app: 'a' } }
    const labelled = { ...template, metadata: { labels: { app: 'a' } } }
    const job = created(jobs, draft({ manualSelector: true, selector, template: labelled }))
    expect([job.spec.selector, job.spec.template.metadata?.labels]).toEqual([selector, { app: 'a' }])
  })
})

describe('validation of a job', () => {
  const exitCodes = (onExitCodes: Draft, action = 'FailJob') => ({
    podFailurePolicy: { rules: [{ action, onExitCodes }] },
  })

  it.each<readonly [string, Draft, readonly string[]]>([
    ['nothing wrong', {}, []],
    [
      'pods that never end',
      { template: { spec: { containers: template.spec.containers } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'pods that restart as nobody knows',
      { template: { spec: { ...template.spec, restartPolicy: 'Sometimes' } } },
      [
        'spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"',
        'spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "OnFailure", "Never"',
      ],
    ],
    [
      'negative numbers',
      { parallelism: -1, completions: -2, backoffLimit: -3, ttlSecondsAfterFinished: -4 },
      [-1, -2, -3, -4].map(
        (value, index) =>
          `spec.${['parallelism', 'completions', 'backoffLimit', 'ttlSecondsAfterFinished'][index]}: Invalid value: ${value}: must be greater than or equal to 0`,
      ),
    ],
    [
      'a selector that the server makes',
      { selector: { matchLabels: { app: 'a' } } },
      [
        'spec.selector: Invalid value: {"matchLabels":{"app":"a","batch.kubernetes.io/controller-uid":"u1"}}: `selector` not auto-generated',
        expect.stringMatching(/^spec\.template\.metadata\.labels: .* `selector` does not match template `labels`$/),
      ],
    ],
    [
      'labels that the server makes',
      { template: { ...template, metadata: { labels: { 'job-name': 'y' } } } },
      [
        'spec.template.metadata.labels[job-name]: Invalid value: {"batch.kubernetes.io/controller-uid":"u1","batch.kubernetes.io/job-name":"x","controller-uid":"u1","job-name":"y"}: must be \'x\'',
      ],
    ],
    [
      'each label that the server makes, the older ones first',
      {
        template: {
          ...template,
          metadata: { labels: { 'batch.kubernetes.io/job-name': 'y', 'controller-uid': 'z', 'job-name': 'y' } },
        },
      },
      ['controller-uid', 'job-name', 'batch.kubernetes.io/job-name'].map((label) =>
        expect.stringMatching(
          new RegExp(`^spec\\.template\\.metadata\\.labels\\[${label}\\]: Invalid value: \\{.*\\}: must be '(u1|x)'$`),
        ),
      ),
    ],
    [
      'a selector of its own that is missing',
      { manualSelector: true },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`',
      ],
    ],
    [
      'indexes without a number',
      { completionMode: 'Indexed', parallelism: 2 },
      ['spec.completions: Required value: when completion mode is Indexed'],
    ],
    [
      'what only indexes have',
      { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      [
        'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
        'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
      ],
    ],
    [
      'more failed indexes than there are',
      { ...indexed, maxFailedIndexes: 4 },
      [
        'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
        'spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions',
      ],
    ],
    [
      'very many indexes that fail by themselves',
      { completionMode: 'Indexed', completions: 100001, parallelism: 10001, backoffLimitPerIndex: 1 },
      [
        'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
        'spec.parallelism: Invalid value: 10001: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
      ],
    ],
    [
      'a mode that there is not',
      { completionMode: 'Random' },
      ['spec.completionMode: Unsupported value: "Random": supported values: "NonIndexed", "Indexed"'],
    ],
    [
      'a manager without a domain',
      { managedBy: 'queue' },
      ['spec.managedBy: Invalid value: "queue": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
    [
      'a manager with a domain and a path that are none, in too many bytes',
      { managedBy: `A/${'ü'.repeat(31)}` },
      [
        expect.stringMatching(/^spec\.managedBy: Invalid value: "A": a lowercase RFC 1123 subdomain must consist/),
        expect.stringMatching(/^spec\.managedBy: Invalid value: "ü+": Invalid path \(regex used/),
        'spec.managedBy: Too long: may not be more than 63 bytes',
      ],
    ],
    [
      'success of indexes in a Job without them',
      { successPolicy: { rules: [{ succeededIndexes: '0' }] } },
      [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":"0","SucceededCount":null}]}: requires indexed completion mode',
      ],
    ],
    [
      'a policy for containers that go on',
      {
        ...exitCodes({ operator: 'In', values: [1] }),
        template: { spec: { ...template.spec, restartPolicy: 'OnFailure' } },
      },
      [
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    ],
    [
      'exit codes that make no sense',
      exitCodes({ operator: 'In', containerName: 'other', values: [3, 0, 3] }),
      [
        'spec.podFailurePolicy.rules[0].onExitCodes.containerName: Invalid value: "other": must be one of the container or initContainer names in the pod template',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In operator',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[2]: Duplicate value: 3',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0,3]: must be ordered',
      ],
    ],
    [
      'rules that say too little, and too much',
      {
        podFailurePolicy: {
          rules: [
            { action: 'Retry' },
            { action: 'FailIndex', onExitCodes: { operator: '', values: [] }, onPodConditions: [{ type: 'Ready' }] },
          ],
        },
      },
      [
        'spec.podFailurePolicy.rules[0].action: Unsupported value: "Retry": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
        'spec.podFailurePolicy.rules[1].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
        'spec.podFailurePolicy.rules[1].onExitCodes.operator: Required value: valid values: ["In" "NotIn"]',
        'spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: []: at least one value is required',
        'spec.podFailurePolicy.rules[1]: Invalid value: specifying both OnExitCodes and OnPodConditions is not supported',
      ],
    ],
    [
      'pods that are replaced before they have failed for sure',
      { ...exitCodes({ operator: 'In', values: [1] }), podReplacementPolicy: 'TerminatingOrFailed' },
      ['spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"'],
    ],
    [
      'success without a rule',
      { ...indexed, successPolicy: { rules: [] } },
      [
        'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
      ],
    ],
    [
      'failures first, then of success, then of replacements',
      {
        ...indexed,
        successPolicy: { rules: [] },
        podFailurePolicy: { rules: [{ action: 'Retry', onExitCodes: { operator: 'In', values: [1] } }] },
        podReplacementPolicy: 'TerminatingOrFailed',
      },
      [
        'spec.podFailurePolicy.rules[0].action: Unsupported value: "Retry": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
        'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
      ],
    ],
    [
      'a completion mode that there is not, which needs no more than that',
      { completionMode: 'Sometimes', backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
      ['spec.completionMode: Unsupported value: "Sometimes": supported values: "NonIndexed", "Indexed"'],
    ],
    [
      'more conditions than there may be, and of each',
      {
        podFailurePolicy: {
          rules: [
            {
              action: 'Ignore',
              onPodConditions: Array.from({ length: 21 }, (_, index) => ({
                type: 'Ready',
                status: index === 20 ? 'Maybe' : 'True',
              })),
            },
          ],
        },
      },
      [
        'spec.podFailurePolicy.rules[0].onPodConditions: Too many: 21: must have at most 20 items',
        'spec.podFailurePolicy.rules[0].onPodConditions[20].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      ],
    ],
    [
      'success of indexes that there are not',
      {
        ...indexed,
        successPolicy: { rules: [{}, { succeededIndexes: '0-3' }, { succeededIndexes: '0,1', succeededCount: 3 }] },
      },
      [
        'spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes must be specified',
        'spec.successPolicy.rules[1].succeededIndexes: Invalid value: "0-3": error parsing succeededIndexes: too large index: "3"',
        'spec.successPolicy.rules[2].succeededCount: Invalid value: 3: must be less than or equal to 2 (the number of indexes in the specified succeededIndexes field)',
      ],
    ],
  ])('says of %s', (_, spec, problems) => {
    expect(problemsOfCreate(jobs, draft(spec))).toEqual(problems)
  })

  it('refuses a name that pods of an index cannot be called after', () => {
    expect(problemsOfCreate(jobs, { ...draft(indexed), metadata: { ...metadata, name: 'a.b' } })).toEqual([
      'metadata.name: Invalid value: "a.b": will not able to create pod with invalid DNS label: a.b-2',
    ])
  })
})

describe('an update of a job', () => {
  const of = (spec: Draft, status: Draft = {}) => ({ ...created(jobs, draft(spec)), status }) as unknown as Draft
  const update = (before: Draft, after: Draft, status: Draft = {}) =>
    problemsOfUpdate(jobs, of(before, status), of(after, status))

  it('may change how many pods run, and whether any do', () => {
    expect(
      update({}, { parallelism: 3, completions: 1, suspend: true, activeDeadlineSeconds: 5, backoffLimit: 1 }),
    ).toEqual([])
  })

  it.each<readonly [Draft, Draft, readonly string[]]>([
    [{}, { completions: 2 }, ['spec.completions: Invalid value: 2: field is immutable']],
    [indexed, { ...indexed, completions: 5, parallelism: 5 }, []],
    [
      indexed,
      { ...indexed, completions: 5 },
      ['spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism'],
    ],
    [
      {},
      { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'Ready' }] }] } },
      [
        'spec.podFailurePolicy: Invalid value: {"Rules":[{"Action":"Ignore","OnExitCodes":null,"OnPodConditions":[{"Type":"Ready","Status":"True"}]}]}: field is immutable',
      ],
    ],
    [{}, { managedBy: 'a.io/b' }, ['spec.managedBy: Invalid value: "a.io/b": field is immutable']],
    [
      {},
      { template: { spec: { ...template.spec, nodeSelector: { disk: 'ssd' } } } },
      [expect.stringMatching(/^spec\.template: .*: field is immutable$/)],
    ],
  ])('from %j to %j', (before, after, problems) => {
    expect(update(before, after)).toEqual(problems)
  })

  it('shows all of a template that it refuses', () => {
    const containers = Array.from({ length: 5 }, (_, index) => ({ name: `c${index}`, image: 'work' }))
    const [problem = ''] = update({}, { template: { ...template, spec: { ...template.spec, containers } } })
    expect(problem).toMatch(/"Name":"c4".*"SchedulingGroup":null\}\}: field is immutable$/)
  })

  describe('of what its pods are like', () => {
    const asking = (cpu: string, parts: Draft = {}) => ({
      suspend: true,
      template: {
        ...template,
        spec: {
          ...template.spec,
          containers: [{ name: 'main', image: 'work', resources: { requests: { cpu } }, ...parts }],
          initContainers: [{ name: 'first', image: 'work', resources: { limits: { cpu } } }],
        },
      },
    })
    const startTime = '2026-01-01T00:00:00Z'
    const suspended = { conditions: [{ type: 'Suspended', status: 'True' }] }
    const immutable = [expect.stringMatching(/^spec\.template: .*: field is immutable$/)]

    const immutableSpec = [
      expect.stringMatching(
        /^spec\.template\.spec: .*"Containers":\[\{"Name":"\w+","Image":"other","Command":null,.*: field is immutable$/,
      ),
    ]

    it.each<readonly [string, Draft, Draft, Draft, readonly unknown[]]>([
      ['is allowed while it is suspended and has never started', asking('1'), asking('2'), {}, []],
      ['is allowed as it is resumed', asking('1'), { ...asking('2'), suspend: false }, {}, []],
      ['may be taken away', asking('1'), asking('1', { resources: {} }), {}, []],
      ['is allowed when all of its pods go', asking('1'), asking('2'), { ...suspended, startTime }, []],
      ['is refused while pods run', asking('1'), asking('2'), { ...suspended, startTime, active: 1 }, immutable],
      ['is refused before its pods are told to go', asking('1'), asking('2'), { startTime }, immutable],
      ['is refused as it is suspended', { ...asking('1'), suspend: false }, asking('2'), { startTime }, immutable],
      ['is refused of anything but resources', asking('1'), asking('2', { image: 'other' }), {}, immutableSpec],
    ])('%s', (_, before, after, status, problems) => {
      expect(update(before, after, status)).toEqual(problems)
    })
  })

  it('may say where pods run as long as none has run', () => {
    const placed = {
      suspend: true,
      template: {
        ...template,
        spec: {
          ...template.spec,
          nodeSelector: { disk: 'ssd' },
          tolerations: [{ operator: 'Exists' }],
          affinity: { nodeAffinity: {} },
        },
      },
    }
    expect(update({ suspend: true }, placed)).toEqual([])
    expect(update({ suspend: true }, placed, { startTime: '2026-01-01T00:00:00Z' })).toHaveLength(1)
  })
})

describe('validation of the status of a job', () => {
  const condition = (type: string) => ({ type, status: 'True' })

  const statusProblems = (spec: Draft, before: Draft, after: Draft): readonly string[] => {
    const [job, old] = [after, before].map((status) => decoded(jobs, { ...draft(spec), status }))
    if (job === undefined || old === undefined) throw new Error('two jobs')
    const errors = jobs.strategy.validateStatusUpdate?.(job, old) ?? []
    return errors.map(describeFieldError).map((each) => each.replace(/^status\./, ''))
  }
  const [begin, end] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']
  const complete = {
    conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    startTime: begin,
    completionTime: end,
  }
  const failed = { conditions: [condition('FailureTarget'), condition('Failed')], startTime: begin }
  const indexed = { completionMode: 'Indexed', completions: 5, parallelism: 3, backoffLimitPerIndex: 1 }

  it.each<readonly [Draft, Draft, readonly string[]]>([
    [{}, { active: 1, uncountedTerminatedPods: { succeeded: ['a'] } }, []],
    [{}, complete, []],
    [{}, failed, []],
    [{}, { ready: -1 }, ['ready: Invalid value: -1: must be greater than or equal to 0']],
    [
      {},
      { uncountedTerminatedPods: { succeeded: ['a', 'a'], failed: ['a', ''] } },
      [
        'uncountedTerminatedPods.succeeded[1]: Duplicate value: "a"',
        'uncountedTerminatedPods.failed[0]: Duplicate value: "a"',
        'uncountedTerminatedPods.failed[1]: Invalid value: "": must not be empty',
      ],
    ],
    [
      {},
      { conditions: [condition('Complete'), condition('Failed'), condition('FailureTarget')] },
      [
        'conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
        'conditions: Invalid value: cannot set Complete=True and FailureTarget=true conditions',
        'completionTime: Required value: completionTime is required for Complete jobs',
        'conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
        'startTime: Required value: startTime is required for finished job',
      ],
    ],
    [
      {},
      { conditions: [condition('Failed')], active: 1, terminating: 1, uncountedTerminatedPods: { failed: ['a'] } },
      [
        'conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
        'active: Invalid value: 1: active>0 is invalid for finished job',
        'startTime: Required value: startTime is required for finished job',
        'uncountedTerminatedPods: Invalid value: {"Succeeded":null,"Failed":["a"]}: must be empty for finished job',
        'terminating: Invalid value: 1: terminating>0 is invalid for finished job',
      ],
    ],
    [
      {},
      { completionTime: begin },
      [`completionTime: Invalid value: "${begin}": cannot set completionTime when there is no Complete=True condition`],
    ],
    [
      {},
      { ...complete, startTime: end, completionTime: begin },
      [`completionTime: Invalid value: "${begin}": must be equal to or after \`startTime\``],
    ],
    [{ completions: 0, suspend: true }, { ...complete, startTime: undefined }, []],
    [{}, { active: 1, ready: 2 }, ['ready: Invalid value: 2: cannot set more ready pods than active']],
    [indexed, { completedIndexes: '0-2', failedIndexes: '3' }, []],
    [
      indexed,
      { completedIndexes: '0-2,4', failedIndexes: '4' },
      ['failedIndexes: Invalid value: "4": failedIndexes and completedIndexes overlap at index: 4'],
    ],
    [
      indexed,
      { completedIndexes: 'x', failedIndexes: '7' },
      [
        'completedIndexes: Invalid value: "x": error parsing completedIndexes: cannot convert string to integer for index: "x"',
        'failedIndexes: Invalid value: "7": error parsing failedIndexes: too large index: "7"',
      ],
    ],
    [
      { completions: 5 },
      { completedIndexes: '0', failedIndexes: '' },
      [
        'completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
        'failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null',
      ],
    ],
    [
      { ...indexed, successPolicy: { rules: [{ succeededCount: 1 }] } },
      { ...complete, conditions: [condition('Complete')] },
      [
        'conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
        'conditions: Invalid value: cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True',
      ],
    ],
    [
      {},
      { ...failed, conditions: [...failed.conditions, condition('SuccessCriteriaMet')] },
      [
        'conditions: Invalid value: cannot set SuccessCriteriaMet=True and Failed=true conditions',
        'conditions: Invalid value: cannot set SuccessCriteriaMet=True and FailureTarget=true conditions',
      ],
    ],
  ])('of %j says of %j', (spec, status, problems) => {
    expect(statusProblems(spec, {}, status)).toEqual(problems)
    // What was so before is not looked at again, but for what can never be.
    const always = problems.filter((each) =>
      /must be greater|Duplicate|must not be empty|SuccessCriteriaMet=True/.test(each),
    )
    expect(statusProblems(spec, status, status)).toEqual(always)
  })

  it.each<readonly [Draft, Draft, Draft, readonly string[]]>([
    [{}, { failed: 2 }, { failed: 1 }, ['failed: Invalid value: 1: cannot decrease the failed counter']],
    [{}, { succeeded: 2 }, { succeeded: 1 }, ['succeeded: Invalid value: 1: cannot decrease the succeeded counter']],
    [{ ...indexed, parallelism: 5 }, { succeeded: 2 }, { succeeded: 1 }, []],
    [
      {},
      complete,
      { ...complete, completionTime: '2026-01-01T00:02:00Z' },
      ['completionTime: Invalid value: "2026-01-01T00:02:00Z": field is immutable'],
    ],
    [{}, { startTime: begin }, {}, ['startTime: Invalid value: null: field is immutable for unsuspended job once set']],
    [
      {},
      { startTime: begin },
      { startTime: end },
      [`startTime: Invalid value: "${end}": field is immutable for unsuspended job once set`],
    ],
    [{ suspend: true }, { startTime: begin }, {}, []],
    [
      {},
      { startTime: begin, conditions: [condition('Suspended')] },
      { startTime: end, conditions: [{ type: 'Suspended', status: 'False' }] },
      [],
    ],
    [
      {},
      { ...complete, conditions: [condition('Complete')] },
      complete,
      ['conditions: Invalid value: cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions'],
    ],
  ])('of %j says of a change from %j to %j', (spec, before, after, problems) => {
    expect(statusProblems(spec, before, after)).toEqual(problems)
  })

  it('never takes an end back', () => {
    const at = (...types: readonly string[]) =>
      decoded(jobs, { ...draft(), status: { startTime: begin, conditions: types.map(condition) } })
    const messages = (job: ReturnType<typeof at>, old: ReturnType<typeof at>) =>
      (jobs.strategy.validateStatusUpdate?.(job, old) ?? []).map(({ message }) => message)
    expect(messages(at('FailureTarget'), at('FailureTarget', 'Failed'))).toEqual([
      'Invalid value: cannot disable the terminal Failed=True condition',
    ])
    expect(messages(at('Failed'), at())).toEqual([
      'Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
    ])
  })
})

describe('dependencies of a job', () => {
  const depending = (text: string, name = 'x'): Draft => ({
    ...draft(),
    metadata: { ...metadata, name, annotations: { [dependsOnAnnotation]: text } },
  })

  it('are names of other jobs', () => {
    expect(problemsOfCreate(jobs, depending('extract, load'))).toEqual([])
    expect(dependenciesOf(decoded(jobs, depending('extract, load')))).toEqual(['extract', 'load'])
    expect(dependenciesOf(decoded(jobs, draft()))).toEqual([])
  })

  it.each<readonly [string, readonly unknown[]]>([
    [
      'a,,b',
      [
        expect.stringMatching(
          /^metadata\.annotations\[coracle\.dev\/depends-on\]: Invalid value: "": a lowercase RFC 1123/,
        ),
      ],
    ],
    ['a,a', ['metadata.annotations[coracle.dev/depends-on]: Duplicate value: "a"']],
    ['x', ['metadata.annotations[coracle.dev/depends-on]: Invalid value: "x": must not depend on itself: x -> x']],
    [
      Array.from({ length: 65 }, (_, index) => `j${index}`).join(),
      ['metadata.annotations[coracle.dev/depends-on]: Invalid value: 65: may not name more than 64 Jobs'],
    ],
  ])('as in %j are judged', (text, problems) => {
    expect(problemsOfCreate(jobs, depending(text))).toEqual(problems)
  })

  it('stay as they were', () => {
    const [before, after] = [created(jobs, depending('a')), created(jobs, depending('b'))] as unknown as [Draft, Draft]
    expect(problemsOfUpdate(jobs, before, after)).toEqual([
      'metadata.annotations[coracle.dev/depends-on]: Invalid value: "b": field is immutable',
    ])
  })

  it('lead back to the job itself, or not', () => {
    const graph: Readonly<Record<string, readonly string[]>> = { a: ['b', 'c'], b: ['d'], c: ['d'], d: ['x'] }
    const follow = (name: string) => graph[name] ?? []
    expect(findCycle('x', ['a'], follow)).toEqual(['x', 'a', 'c', 'd', 'x'])
    expect(findCycle('y', ['a'], follow)).toBeUndefined()
    expect(findCycle('y', ['z'], () => ['z'])).toBeUndefined()
  })
})

describe('table of jobs', () => {
  it('has the columns of kubectl get', () => {
    expect(columnNames(jobs)).toEqual({
      shown: ['Name', 'Status', 'Completions', 'Duration', 'Age'],
      wide: ['Containers', 'Images', 'Selector'],
    })
  })

  const startTime = '2026-01-01T00:00:00Z'
  const at = (type: string) => ({ conditions: [{ type, status: 'True' }] })
  it.each<readonly [Draft, Draft, Draft]>([
    [{}, {}, { Status: 'Running', Completions: '0/1', Duration: '' }],
    [{ completions: 8 }, { succeeded: 3, startTime }, { Completions: '3/8', Duration: '100s' }],
    [{ parallelism: 4 }, { succeeded: 1 }, { Completions: '1/1 of 4' }],
    [
      {},
      { ...at('Complete'), startTime, completionTime: '2026-01-01T00:00:07Z' },
      { Status: 'Complete', Duration: '7s' },
    ],
    [{}, at('Failed'), { Status: 'Failed' }],
    [{}, at('Suspended'), { Status: 'Suspended' }],
    [{}, at('FailureTarget'), { Status: 'FailureTarget' }],
    [{}, at('SuccessCriteriaMet'), { Status: 'SuccessCriteriaMet' }],
    [{}, at('coracle.dev/Waiting'), { Status: 'Waiting' }],
  ])('shows %j with status %j', (spec, status, expected) => {
    expect(row(jobs, { ...draft(spec), status }, parseTime('2026-01-01T00:01:40Z'))).toMatchObject(expected)
  })

  it('can be filtered by successes', () => {
    expect(jobs.selectableFields['status.successful']?.(decoded(jobs, { ...draft(), status: { succeeded: 2 } }))).toBe(
      '2',
    )
  })
})

describe('texts of indexes', () => {
  it.each<readonly [string, number | string]>([
    ['', 0],
    ['0', 1],
    ['0,2-4,9', 5],
    ['3-3', 'non-increasing order, previous: 3, current: 3'],
    ['4,3', 'non-increasing order, previous: 4, current: 3'],
    [
      '1-2-3',
      'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
    ],
    ['a', 'cannot convert string to integer for index: "a"'],
    ['10', 'too large index: "10"'],
    ['+1,+3-05', 4],
    ['++1', 'cannot convert string to integer for index: "++1"'],
    ['99999999999999999999', 'cannot convert string to integer for index: "99999999999999999999"'],
  ])('%j are %j', (text, expected) => {
    expect(checkIndexes(text, 10)).toBe(expected)
  })

  it('are sets', () => {
    const set = fc.uniqueArray(fc.nat(60), { maxLength: 40 }).map((each) => [...each].sort((a, b) => a - b))
    fc.assert(
      fc.property(set, set, (first, second) => {
        const intervals = addIndexes(parseIndexes(formatIndexes(addIndexes([], first)), 61), second)
        const all = new Set([...first, ...second])
        expect(countIndexes(intervals)).toBe(all.size)
        expect(checkIndexes(formatIndexes(intervals), 61)).toBe(all.size)
        for (let index = 0; index <= 61; index += 1) expect(hasIndex(intervals, index)).toBe(all.has(index))
      }),
    )
  })

  it('write a pair as two, and more as a run', () => {
    expect(formatIndexes(addIndexes([], [0, 1, 3, 5, 6, 7]))).toBe('0,1,3,5-7')
  })

  it('lose what is beyond the number of completions', () => {
    expect(parseIndexes('0-9,12', 5)).toEqual([[0, 4]])
  })

  it('are numbers as Go reads them, and others are left out', () => {
    expect(parseIndexes('+0,x,+2-03,1e1,5-', 9)).toEqual([
      [0, 0],
      [2, 3],
    ])
  })
})
