import { describe, expect, it } from 'vitest'
import {
  columnNames,
  created,
  type Draft,
  decoded,
  problemsOfCreate,
  problemsOfUpdate,
  row,
} from '../../../../test/requests.ts'
import { parseTime } from '../../../time.ts'
import { cronJobs } from './cron-job.ts'

const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } }
const spec = { schedule: '*/5 * * * *', jobTemplate: { spec: job } }

it('keeps three jobs that succeeded and one that failed, and lets them overlap', () => {
  const cronJob = created(cronJobs, { spec, status: { active: [] } })
  expect(cronJob.spec).toMatchObject({
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  })
  expect(cronJob.spec.jobTemplate.spec).toMatchObject({ template: { spec: { dnsPolicy: 'ClusterFirst' } } })
  expect(cronJob.spec.jobTemplate.spec.completions).toBeUndefined()
  expect(cronJob.status).toEqual({})
})

describe('validation of a cron job', () => {
  it.each<readonly [string, Draft, readonly unknown[]]>([
    ['nothing wrong', { timeZone: 'Europe/Berlin', schedule: '@daily' }, []],
    ['no schedule', { schedule: '' }, ['spec.schedule: Required value']],
    [
      'a schedule that is none',
      { schedule: '61 * * * *' },
      ['spec.schedule: Invalid value: "61 * * * *": end of range (61) above maximum (59): 61'],
    ],
    [
      'a zone in the schedule',
      { schedule: 'TZ=UTC 0 * * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'two zones',
      { schedule: 'CRON_TZ=UTC 0 * * * *', timeZone: 'UTC' },
      [
        'spec.schedule: Invalid value: "CRON_TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'a zone in the schedule that there is not',
      { schedule: 'TZ=Mars 0 * * * *' },
      [
        'spec.schedule: Invalid value: "TZ=Mars 0 * * * *": provided bad location Mars: unknown time zone Mars',
        'spec.schedule: Invalid value: "TZ=Mars 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'a zone that there is not',
      { timeZone: 'Mars/Olympus' },
      ['spec.timeZone: Invalid value: "Mars/Olympus": unknown time zone Mars/Olympus'],
    ],
    [
      'a zone that is none',
      { timeZone: '' },
      ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
    ],
    [
      'the zone of some machine',
      { timeZone: 'Local' },
      [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    ],
    [
      'the same in capitals, by which it is not known either',
      { timeZone: 'LOCAL' },
      [
        'spec.timeZone: Invalid value: "LOCAL": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
        'spec.timeZone: Invalid value: "LOCAL": unknown time zone LOCAL',
      ],
    ],
    [
      'a zone by a name that only some programs know',
      { timeZone: 'PST' },
      ['spec.timeZone: Invalid value: "PST": unknown time zone PST'],
    ],
    [
      'a policy that there is not',
      { concurrencyPolicy: 'Queue' },
      ['spec.concurrencyPolicy: Unsupported value: "Queue": supported values: "Allow", "Forbid", "Replace"'],
    ],
    [
      'negative numbers',
      { startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -2, failedJobsHistoryLimit: -3 },
      [
        'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.successfulJobsHistoryLimit: Invalid value: -2: must be greater than or equal to 0',
        'spec.failedJobsHistoryLimit: Invalid value: -3: must be greater than or equal to 0',
      ],
    ],
    [
      'jobs with selectors of their own',
      { jobTemplate: { spec: { ...job, manualSelector: true, selector: { matchLabels: { a: 'b' } } } } },
      [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    ],
    [
      'jobs that never end',
      { jobTemplate: { spec: { template: { spec: { containers: job.template.spec.containers } } } } },
      ['spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
  ])('says of %s', (_, changes, problems) => {
    expect(problemsOfCreate(cronJobs, { spec: { ...spec, ...changes } })).toEqual(problems)
  })

  it('leaves room in the name for the time', () => {
    const name = 'a'.repeat(53)
    expect(problemsOfCreate(cronJobs, { metadata: { name }, spec })).toEqual([
      `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
    ])
  })

  it('leaves a schedule alone that was allowed once', () => {
    const old = { ...spec, schedule: 'TZ=UTC 0 * * * *' }
    expect(problemsOfUpdate(cronJobs, { spec: old }, { spec: { ...old, suspend: true } })).toEqual([])
    expect(problemsOfUpdate(cronJobs, { spec: old }, { spec: { ...old, timeZone: 'UTC' } })).toHaveLength(1)
  })
})

it('shows its schedule in a table', () => {
  expect(columnNames(cronJobs)).toEqual({
    shown: ['Name', 'Schedule', 'Timezone', 'Suspend', 'Active', 'Last Schedule', 'Age'],
    wide: ['Containers', 'Images', 'Selector'],
  })
  const status = { active: [{ name: 'a' }], lastScheduleTime: '2026-01-01T00:00:00Z' }
  expect(row(cronJobs, { spec: { ...spec, suspend: true }, status }, parseTime('2026-01-01T00:00:50Z'))).toMatchObject({
    Schedule: '*/5 * * * *',
    Timezone: '<none>',
    Suspend: 'True',
    Active: 1,
    'Last Schedule': '50s',
    Selector: '<none>',
  })
  expect(row(cronJobs, { spec: { ...spec, timeZone: 'UTC' } }, 0)).toMatchObject({
    Timezone: 'UTC',
    Suspend: 'False',
    'Last Schedule': '<none>',
  })
  expect(decoded(cronJobs, { spec }).kind).toBe('CronJob')
})
