import { cronJobs, dependsOnAnnotation, jobs } from '@coracle/api'
import { describe, expect, it } from 'vitest'
import { ending, Situation } from './situation.ts'

const job = (forTime: string, exitCode: number, spec: object = {}, annotations: object = {}) => ({
  metadata: { annotations },
  spec: { ...spec, template: { spec: { containers: [ending(forTime, exitCode)], restartPolicy: 'Never' } } },
})

describe('why a Job is not complete', () => {
  it('is suspended', async () => {
    await using situation = await Situation.start()
    await situation.create(jobs, 'once', job('1s', 0, { suspend: true }))
    expect(await situation.cause(jobs, 'once')).toBe('Suspended of job/once: it is suspended')
    await situation.patch(jobs, 'once', { spec: { suspend: false } })
    await situation.passes('30s')
    expect(await situation.verdict(jobs, 'once')).toBe('fine')
  })

  it('waits for another, which is suspended', async () => {
    await using situation = await Situation.start()
    await situation.create(jobs, 'first', job('1s', 0, { suspend: true }))
    await situation.create(jobs, 'second', job('1s', 0, {}, { [dependsOnAnnotation]: 'first' }))
    await situation.passes('5s')
    const { findings } = await situation.why(jobs, 'second')
    expect(findings.map(({ reason, object }) => `${reason} ${object.name}`)).toEqual([
      'Suspended first',
      'WaitsForJob second',
    ])
    await situation.patch(jobs, 'first', { spec: { suspend: false } })
    await situation.passes('1m')
    expect(await situation.verdict(jobs, 'second')).toBe('fine')
  })

  it('waits for one that is not there', async () => {
    await using situation = await Situation.start()
    await situation.create(jobs, 'second', job('1s', 0, {}, { [dependsOnAnnotation]: 'first' }))
    await situation.passes('5s')
    expect(await situation.cause(jobs, 'second')).toBe(
      'JobMissing of job/second: Waiting for Jobs to complete: first (does not exist)',
    )
    await situation.create(jobs, 'first', job('1s', 0))
    await situation.passes('1m')
    expect(await situation.verdict(jobs, 'second')).toBe('fine')
  })

  it('has failed too often', async () => {
    await using situation = await Situation.start()
    await situation.create(jobs, 'once', job('1s', 3, { backoffLimit: 1 }))
    await situation.passes('5s')
    const early = await situation.why(jobs, 'once')
    expect(early.findings.map(({ reason }) => reason)).toEqual(['ContainerFailed', 'BackingOff'])
    await situation.passes('5m')
    const { findings } = await situation.why(jobs, 'once')
    expect(findings.map(({ reason, object }) => `${reason} ${object.kind}`)).toEqual([
      'ContainerFailed Pod',
      'BackoffLimitExceeded Job',
    ])
    expect(findings[0]?.because).toBe('container main ended with exit code 3 (Error)')
  })

  it('takes longer than it may', async () => {
    await using situation = await Situation.start()
    await situation.create(jobs, 'once', job('1h', 0, { activeDeadlineSeconds: 30 }))
    await situation.passes('2m')
    expect(await situation.cause(jobs, 'once')).toMatch(/^DeadlineExceeded of job\/once: DeadlineExceeded: /)
    expect(await situation.remedy(jobs, 'once')).toContain('spec.activeDeadlineSeconds')
  })
})

describe('why a CronJob starts nothing', () => {
  const cron = (spec: object, forTime = '1s') => ({
    spec: { schedule: '*/1 * * * *', jobTemplate: { spec: job(forTime, 0).spec }, ...spec },
  })

  it('is suspended', async () => {
    await using situation = await Situation.start()
    await situation.create(cronJobs, 'often', cron({ suspend: true }))
    await situation.passes('3m')
    expect(await situation.cause(cronJobs, 'often')).toBe('Suspended of cronjob/often: it is suspended')
    await situation.patch(cronJobs, 'often', { spec: { suspend: false } })
    await situation.passes('3m')
    expect(await situation.why(cronJobs, 'often')).toMatchObject({
      verdict: 'fine',
      findings: [{ reason: 'NotDueYet' }],
    })
  })

  it('waits for the Job before', async () => {
    await using situation = await Situation.start()
    await situation.create(cronJobs, 'often', cron({ concurrencyPolicy: 'Forbid' }, '1h'))
    await situation.passes('4m')
    const { findings } = await situation.why(cronJobs, 'often')
    expect(findings.map(({ reason, object }) => `${reason} ${object.kind}`)).toEqual([
      'UnderWay Job',
      'JobAlreadyActive CronJob',
      'NotDueYet CronJob',
    ])
    const [active] = findings
    await situation.patch(cronJobs, 'often', { spec: { jobTemplate: { spec: job('1s', 0).spec } } })
    await situation.delete(jobs, active?.object.name ?? '')
    await situation.passes('3m')
    expect(await situation.verdict(cronJobs, 'often')).toBe('fine')
  })
})
