import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Program, type ProgramOptions } from './support/program.ts'
import { tools } from './support/tools.ts'

// A manifest as charts have it, with volumes at absolute paths, on containers that are processes of this host.

const dataAndScripts = `
apiVersion: v1
kind: ConfigMap
metadata: { name: config }
data: { greeting: hello }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: scripts }
data:
  run.sh: |
    #!/bin/sh
    cat greeting
    echo "from $1" | tee /data/file
    exec sleep 600
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: main
          image: example/web
          command: [/scripts/run.sh, chart]
          workingDir: /etc/config
          readinessProbe: { exec: { command: [cat, /data/file] }, periodSeconds: 1, timeoutSeconds: 30 }
          volumeMounts:
            - { name: config, mountPath: /etc/config, readOnly: true }
            - { name: scripts, mountPath: /scripts }
            - { name: data, mountPath: /data }
      volumes:
        - { name: config, configMap: { name: config } }
        - { name: scripts, configMap: { name: scripts, defaultMode: 0755 } }
        - { name: data, emptyDir: {} }
`

/** Whether this host lets whoever runs the tests have mounts apart from others. */
const canMount = (() => {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']
  return spawnSync('unshare', [...user, '--mount', 'mount', '--bind', tmpdir(), tmpdir()]).status === 0
})()

describe.skipIf(!canMount)('a manifest with volumes at absolute paths', { meta: { needs: 'mount namespaces' } }, () => {
  let directory: string
  let program: Program
  const start = async (options: ProgramOptions = {}) => {
    const dataDir = join(directory, 'data')
    program = await Program.start({ ...options, dataDir, args: ['--runtime', 'process'] })
  }
  const hostMounts = () =>
    readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(directory) || line.includes('/etc/config'))
  const exec = (...command: readonly string[]) => program.kubectlOk(['exec', 'deploy/web', '--', ...command])

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'coracle-mounts-'))
    await start()
  })
  afterAll(async () => {
    await program.end('SIGINT')
    await rm(directory, { recursive: true, force: true })
  })

  it('runs, and its containers are joined by clients, before and after Coracle was killed', async () => {
    await program.kubectlOk(['apply', '-f', '-'], { input: dataAndScripts })
    await program.kubectlOk(['rollout', 'status', 'deploy/web', '--timeout=60s'])
    // What it has written into the file it may not have said yet.
    await expect.poll(() => program.kubectlOk(['logs', 'deploy/web'])).toBe('hellofrom chart\n')
    const look = async () => {
      expect(await exec('sh', '-c', 'pwd; cat greeting; cat /data/file')).toBe('/etc/config\nhellofrom chart\n')
      expect((await program.kubectl(['exec', 'deploy/web', '--', 'touch', '/etc/config/x'])).stderr).toContain(
        'Read-only file system',
      )
    }
    await look()
    expect(hostMounts()).toEqual([])
    const pod = await program.kubectlOk(['get', 'pods', '-l', 'app=web', '-o', 'jsonpath={.items[0].metadata.name}'])
    await writeFile(join(directory, 'file'), 'copied\n')
    await program.kubectlOk(['cp', join(directory, 'file'), `${pod}:/data/copy`])

    await program.end('SIGKILL')
    await start()
    await program.kubectlOk(['rollout', 'status', 'deploy/web', '--timeout=60s'])
    await look()
    expect(await exec('cat', '/data/copy')).toBe('copied\n')
    const restarts = 'jsonpath={.items[0].status.containerStatuses[0].restartCount}'
    expect(await program.kubectlOk(['get', 'pods', '-l', 'app=web', '-o', restarts])).toBe('0')

    await program.kubectlOk(['delete', 'deploy/web', '--wait=false'])
    await program.kubectlOk(['wait', '--for=delete', `pod/${pod}`, '--timeout=60s'])
    for (const path of ['/etc/config', '/scripts', '/data/file']) expect(existsSync(path)).toBe(false)
    expect(hostMounts()).toEqual([])
  })

  it('calls the API as client libraries do, with the token of its account', async () => {
    const account = `
apiVersion: v1
kind: ServiceAccount
metadata: { name: viewer }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: viewer-view }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: ServiceAccount, name: viewer }]
---
apiVersion: v1
kind: Pod
metadata: { name: caller }
spec:
  restartPolicy: Never
  serviceAccountName: viewer
  containers:
    - name: main
      image: example/caller
      command: [${JSON.stringify((await tools()).kubectl)}, get, pods, -o, name]
      env: [{ name: HOME, value: /nowhere }]
`
    await program.kubectlOk(['apply', '-f', '-'], { input: account })
    await program.kubectlOk(['wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/caller', '--timeout=50s'])
    expect(await program.kubectlOk(['logs', 'caller'])).toContain('pod/caller\n')
  })
})
