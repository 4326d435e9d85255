import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Api } from './support/api.ts'
import { runHelm } from './support/helm.ts'
import { paths } from './support/objects.ts'
import { eventually, type Outcome, Program } from './support/program.ts'

// Helm 4, which installs a chart of three kinds, waits for it, changes it, and takes it away again.

const files: Readonly<Record<string, string>> = {
  'Chart.yaml': 'apiVersion: v2\nname: shop\nversion: 1.0.0\n',
  'values.yaml': 'replicas: 2\ncolour: blue\n',
  'templates/settings.yaml': `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Release.Name }}-settings
  labels:
    app.kubernetes.io/managed-by: {{ .Release.Service }}
data:
  colour: {{ .Values.colour | quote }}
`,
  'templates/password.yaml': `apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-password
stringData:
  password: swordfish
`,
  'templates/controller.yaml': `apiVersion: v1
kind: ReplicationController
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector:
    app: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app: {{ .Release.Name }}
    spec:
      containers:
        - name: web
          image: example/web
`,
}

let program: Program
let api: Api
let home: string
let chart: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'coracle-'))
  chart = join(home, 'shop')
  await mkdir(join(chart, 'templates'), { recursive: true })
  for (const [name, content] of Object.entries(files)) await writeFile(join(chart, name), content)
  program = await Program.start({ args: ['--memory', '--runtime', 'simulated'] })
  api = await Api.of(program)
})
afterAll(async () => {
  api.close()
  await program[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
})

const helm = (args: readonly string[]): Promise<Outcome> => runHelm(program, home, args)

async function helmOk(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await helm(args)
  if (code !== 0) throw new Error(`helm ${args.join(' ')} exited with ${code}\n${stdout}${stderr}`)
  return stdout
}

describe('a Helm chart', () => {
  it('is installed, listed, upgraded, rolled back and uninstalled', async () => {
    await helmOk(['install', 'shop', chart, '--wait', '--timeout', '50s'])
    // What Helm waits for are kinds that it knows, of which this is none.
    const ready = async () => (await api.object(`${paths.controllers}/shop`)).status.readyReplicas
    await expect.poll(ready).toBe(2)
    expect((await api.object(`${paths.configMaps}/shop-settings`)).data).toEqual({ colour: 'blue' })
    const { data } = await api.object('/api/v1/namespaces/default/secrets/shop-password')
    expect(data).toEqual({ password: Buffer.from('swordfish').toString('base64') })

    const listed = JSON.parse(await helmOk(['list', '-o', 'json']))
    expect(listed).toMatchObject([{ name: 'shop', revision: '1', status: 'deployed', chart: 'shop-1.0.0' }])

    const changes = ['--set', 'replicas=3,colour=red']
    await helmOk(['upgrade', 'shop', chart, '--wait', '--timeout', '50s', ...changes])
    expect((await api.object(`${paths.configMaps}/shop-settings`)).data).toEqual({ colour: 'red' })
    await expect.poll(ready).toBe(3)

    await helmOk(['rollback', 'shop', '1'])
    expect((await api.object(`${paths.configMaps}/shop-settings`)).data).toEqual({ colour: 'blue' })
    const history = JSON.parse(await helmOk(['history', 'shop', '-o', 'json']))
    expect(history.map(({ status }: { status: string }) => status)).toEqual(['superseded', 'superseded', 'deployed'])

    await helmOk(['uninstall', 'shop', '--wait', '--timeout', '50s'])
    expect((await api.call(`${paths.controllers}/shop`)).code).toBe(404)
    expect((await api.call(`${paths.configMaps}/shop-settings`)).code).toBe(404)
    await eventually('its pods to go', async () => (await api.object(paths.pods)).items.length === 0)
    expect(JSON.parse(await helmOk(['list', '-o', 'json']))).toEqual([])
  })
})
