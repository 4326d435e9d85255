import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

/** A host, as a user namespace can be one, that allows no more mount namespaces. */
const withoutMounts = [
  '--user',
  '--map-root-user',
  'sh',
  '-c',
  'echo 0 >/proc/sys/user/max_mnt_namespaces && exec "$@"',
  'sh',
]
const canBeWithout = spawnSync('unshare', [...withoutMounts, 'true']).status === 0

it.skipIf(!canBeWithout)(
  'says why a host does not allow private mounts',
  { meta: { needs: 'user namespaces' } },
  () => {
    const module = fileURLToPath(new URL('./private-mounts.ts', import.meta.url))
    const script = `import { privateMountsProblem } from ${JSON.stringify(module)}; console.log(privateMountsProblem())`
    const argv = [...withoutMounts, process.execPath, '--input-type=module', '-e', script]
    const { stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' })
    expect(`${stdout}${stderr}`).toBe('unshare: unshare failed: No space left on device\n')
  },
)
