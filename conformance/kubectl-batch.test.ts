import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, rows } from './support/kubectl.ts'
import { Program } from './support/program.ts'

let program: Program
let namespaces = 0
const inNewNamespace = () => Kubectl.inNewNamespace(program, `batch-${namespaces++}`)

beforeAll(async () => {
  // Containers are processes, so that they end by themselves.
  program = await Program.start({ args: ['--memory'] })
})
afterAll(() => program[Symbol.asyncDispose]())

const complete = (name: string) => ['wait', '--for=condition=complete', `job/${name}`, '--timeout=60s']

describe('kubectl', () => {
  it('creates a job, waits for it, and shows it', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['create', 'job', 'hello', '--image=none', '--', 'echo', 'hello'])
    await kubectl.ok(complete('hello'))
    expect(rows(await kubectl.ok(['get', 'jobs']))).toMatchObject([
      ['NAME', 'STATUS', 'COMPLETIONS', 'DURATION', 'AGE'],
      ['hello', 'Complete', '1/1', expect.stringMatching(/^\d+s$/), expect.any(String)],
    ])
    expect(await kubectl.ok(['logs', 'job/hello'])).toBe('hello\n')
    const described = () => kubectl.ok(['describe', 'job', 'hello'])
    expect(await described()).toMatch(/^Pods Statuses:\s+0 Active \(0 Ready\) \/ 1 Succeeded \/ 0 Failed$/m)
    // Events are told after what they tell of.
    await expect
      .poll(described)
      .toMatch(/Normal\s+SuccessfulCreate\s+\S+\s+job-controller\s+Created pod: hello-[a-z0-9]{5}/)
    await expect.poll(described).toMatch(/Normal\s+Completed\s+\S+\s+job-controller\s+Job completed/)
    await kubectl.ok(['delete', 'job', 'hello'])
    // Its pods go after it.
    await expect.poll(() => kubectl.ok(['get', 'jobs,pods', '-o', 'name'])).toBe('')
  })

  it('shows a job that waits for another, and why', async () => {
    const kubectl = await inNewNamespace()
    const report = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'report', annotations: { 'coracle.dev/depends-on': 'extract' } },
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'x', command: ['true'] }] } },
      },
    }
    await kubectl.ok(['create', '-f', '-'], { input: JSON.stringify(report) })
    await kubectl.ok(['wait', '--for=condition=coracle.dev/Waiting', 'job/report', '--timeout=50s'])
    expect(rows(await kubectl.ok(['get', 'jobs']))[1]).toMatchObject(['report', 'Waiting', '0/1', expect.any(String)])
    expect(await kubectl.ok(['describe', 'job', 'report'])).toContain(
      'Waiting for Jobs to complete: extract (does not exist)',
    )
    await kubectl.ok(['create', 'job', 'extract', '--image=none', '--', 'true'])
    await kubectl.ok(complete('report'))
  })

  it('creates a cron job, and a job from it', async () => {
    const kubectl = await inNewNamespace()
    await kubectl.ok(['create', 'cronjob', 'tick', '--image=none', '--schedule=0 0 1 1 *', '--', 'true'])
    await kubectl.ok(['create', 'job', 'by-hand', '--from=cronjob/tick'])
    await kubectl.ok(complete('by-hand'))
    expect(rows(await kubectl.ok(['get', 'cj']))).toMatchObject([
      ['NAME', 'SCHEDULE', 'TIMEZONE', 'SUSPEND', 'ACTIVE', 'LAST SCHEDULE', 'AGE'],
      ['tick', '0 0 1 1 *', '<none>', 'False', '0', '<none>', expect.any(String)],
    ])
    expect(await kubectl.ok(['describe', 'cronjob', 'tick'])).toMatch(/^Schedule:\s+0 0 1 1 \*$/m)
    expect(await kubectl.ok(['get', 'all', '-o', 'name'])).toContain('cronjob.batch/tick')
  })
})
