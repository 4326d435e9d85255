import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Kubectl, type PodObject, pod } from './support/kubectl.ts'
import { eventually, Program } from './support/program.ts'

let program: Program
let kubectl: Kubectl

/** A pod of one container that runs a shell script, and is stopped without waiting long. */
const script = (name: string, text: string, spec: object = {}, metadata: object = {}): object =>
  pod(name, metadata, {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: 'example/shell', command: ['sh', '-c', text] }],
    ...spec,
  })

beforeAll(async () => {
  program = await Program.start({ args: ['--runtime', 'process'] })
  kubectl = await Kubectl.inNewNamespace(program, 'logging')
  await kubectl.create(
    'pods',
    script('counted', 'for i in 1 2 3 4 5; do echo "line $i"; done; echo "an error" >&2; exec sleep 600'),
  )
  await eventually('six lines', async () => (await kubectl.ok(['logs', 'counted'])).split('\n').length === 7)
})
afterAll(() => program[Symbol.asyncDispose]())

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z /

describe('logs', () => {
  it('shows all that a container wrote, to either stream', async () => {
    const lines = (await kubectl.ok(['logs', 'counted'])).trimEnd().split('\n')
    expect(lines).toEqual(expect.arrayContaining(['line 1', 'line 2', 'line 3', 'line 4', 'line 5', 'an error']))
    expect(lines).toHaveLength(6)
    expect(await kubectl.ok(['logs', 'pod/counted', '-c', 'main'])).toBe(`${lines.join('\n')}\n`)
  })

  it('shows the last lines with --tail', async () => {
    expect((await kubectl.ok(['logs', 'counted', '--tail=2'])).trimEnd().split('\n')).toHaveLength(2)
    expect(await kubectl.ok(['logs', 'counted', '--tail=0'])).toBe('')
  })

  it('shows when each line was written with --timestamps', async () => {
    const lines = (await kubectl.ok(['logs', 'counted', '--timestamps'])).trimEnd().split('\n')
    const texts = (await kubectl.ok(['logs', 'counted'])).trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(timestamp)
    expect(lines.map((line) => line.replace(timestamp, ''))).toEqual(texts)
    const times = lines.map((line) => Date.parse(line.split(' ')[0] ?? ''))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    const { metadata } = await kubectl.get('pods', 'counted')
    expect(times[0]).toBeGreaterThanOrEqual(Date.parse(metadata.creationTimestamp))
    expect(times.at(-1)).toBeLessThanOrEqual(Date.now())
  })

  it('shows what is young enough with --since-time, and no more than --limit-bytes', async () => {
    expect(await kubectl.ok(['logs', 'counted', '--since-time=2999-01-01T00:00:00Z'])).toBe('')
    expect((await kubectl.ok(['logs', 'counted', '--since=1h'])).trimEnd().split('\n')).toHaveLength(6)
    const all = await kubectl.ok(['logs', 'counted'])
    expect(await kubectl.ok(['logs', 'counted', '--limit-bytes=6'])).toBe(all.slice(0, 6))
  })

  it('follows a running container', async () => {
    await kubectl.create('pods', script('ticking', 'i=0; while :; do i=$((i+1)); echo "tick $i"; sleep 0.1; done'))
    await kubectl.ok(['wait', '--for=condition=Ready', 'pod/ticking', '--timeout=50s'])
    await using following = await kubectl.start(['logs', '-f', 'ticking'])
    await eventually('twelve ticks', async () => following.lines.length >= 12)
    expect(following.lines.slice(0, 12)).toEqual(Array.from({ length: 12 }, (_, index) => `tick ${index + 1}`))
    await kubectl.ok(['delete', 'pod', 'ticking', '--wait=false'])
  })

  it('ends following when the container has ended', async () => {
    const text = 'echo begin; sleep 0.5; echo end'
    await kubectl.create('pods', script('ending', text, { restartPolicy: 'Never' }))
    await eventually(
      'its start',
      async () => (await kubectl.get<PodObject>('pods', 'ending')).status.phase !== 'Pending',
    )
    expect(await kubectl.run(['logs', '-f', 'ending'])).toEqual({ code: 0, stdout: 'begin\nend\n', stderr: '' })
    await kubectl.ok(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/ending', '--timeout=50s'])
    expect(await kubectl.ok(['logs', 'ending'])).toBe('begin\nend\n')
  })

  it('shows the previous run of a container that was restarted', async () => {
    const marker = `${program.dataDir}/ran-once`
    const text = `if [ -e ${marker} ]; then echo second; exec sleep 600; fi; touch ${marker}; echo first; exit 3`
    await kubectl.create('pods', script('restarted', text))
    await eventually('a restart', async () => {
      const { status } = await kubectl.get<PodObject>('pods', 'restarted')
      return status.containerStatuses?.[0]?.restartCount === 1 && status.phase === 'Running'
    })
    await eventually('the second run', async () => (await kubectl.ok(['logs', 'restarted'])) === 'second\n')
    expect(await kubectl.ok(['logs', 'restarted', '--previous'])).toBe('first\n')
    expect(await kubectl.ok(['get', 'pod', 'restarted', '--no-headers'])).toMatch(/^restarted +[01]\/1 +Running +1 \(/)
    expect(await kubectl.ok(['describe', 'pod', 'restarted'])).toMatch(
      /Last State: +Terminated\n +Reason: +Error\n +Exit Code: +3\n/,
    )
    const { code, stderr } = await kubectl.run(['logs', 'counted', '--previous'])
    expect(code).toBe(1)
    expect(stderr).toContain('previous terminated container "main" in pod "counted" not found')
  })

  it('asks which container is meant, takes one by name, and shows all with prefixes', async () => {
    const container = (name: string) => ({
      name,
      image: 'example/shell',
      command: ['sh', '-c', `echo "I am ${name}"; exec sleep 600`],
    })
    const spec = { containers: [container('left'), container('right')] }
    await kubectl.create('pods', script('pair', '', spec, { labels: { app: 'pair' } }))
    await kubectl.ok(['wait', '--for=condition=Ready', 'pod/pair', '--timeout=50s'])
    for (const name of ['left', 'right'])
      await eventually('its words', async () => (await kubectl.ok(['logs', 'pair', '-c', name])) === `I am ${name}\n`)
    const chosen = await kubectl.run(['logs', 'pair'])
    expect(chosen).toEqual({
      code: 0,
      stdout: 'I am left\n',
      stderr: 'Defaulted container "left" out of: left, right\n',
    })
    expect(
      (await kubectl.ok(['logs', '-l', 'app=pair', '--all-containers', '--prefix'])).trim().split('\n').sort(),
    ).toEqual(['[pod/pair/left] I am left', '[pod/pair/right] I am right'])
    const wrong = await kubectl.run(['logs', 'pair', '-c', 'middle'])
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain('container middle is not valid for pod pair')
  })

  it('finds the pods of a controller', async () => {
    await kubectl.create('replicationcontrollers', {
      metadata: { name: 'chorus' },
      spec: {
        replicas: 1,
        selector: { app: 'chorus' },
        template: {
          metadata: { labels: { app: 'chorus' } },
          spec: {
            terminationGracePeriodSeconds: 1,
            containers: [{ name: 'voice', image: 'example/shell', command: ['sh', '-c', 'echo la; exec sleep 600'] }],
          },
        },
      },
    })
    await kubectl.waitForReplicas('chorus', 1)
    await eventually('its song', async () => (await kubectl.ok(['logs', 'rc/chorus'])) === 'la\n')
  })

  it('says why there are none', async () => {
    const nobody = await kubectl.run(['logs', 'nobody'])
    expect([nobody.code, nobody.stderr]).toEqual([
      1,
      'error: error from server (NotFound): pods "nobody" not found in namespace "logging"\n',
    ])
    await kubectl.create('pods', script('nowhere', 'true', { nodeSelector: { no: 'node' } }))
    const waiting = await kubectl.run(['logs', 'nowhere'])
    expect([waiting.code, waiting.stdout]).toEqual([0, ''])
    const images = { containers: [{ name: 'main', image: 'example/image-alone' }] }
    await kubectl.create('pods', script('imaged', '', images))
    await eventually('a reason', async () =>
      (await kubectl.ok(['get', 'pod', 'imaged'])).includes('CreateContainerError'),
    )
    const stuck = await kubectl.run(['logs', 'imaged'])
    expect(stuck.code).toBe(1)
    expect(stuck.stderr).toContain('container "main" in pod "imaged" is waiting to start: CreateContainerError: ')
    expect(stuck.stderr).toContain('Set command to a program of this host')
  })
})
