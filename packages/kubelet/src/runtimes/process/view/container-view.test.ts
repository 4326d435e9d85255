import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../../testing/temporary-directory.ts'
import type { ContainerConfig, Mount } from '../../runtime.ts'
import { type ProcessUser, runsAsRoot } from '../process-user.ts'
import { createView, prepareView } from './container-view.ts'
import { privateMountsProblem } from './private-mounts.ts'

const stranger: ProcessUser = { uid: 31_337, gid: 31_337, supplementalGroups: [], home: '/', noNewPrivileges: false }

/** What makes the view of a container, another user's unless said, to be run when the test has changed what it is made of. */
function prepared(mounts: readonly Mount[], isRoot = false) {
  const directory = temporaryDirectory()
  const [workDirectory, messagePath, root] = ['work', 'message', 'root'].map((name) => join(directory, name))
  mkdirSync(workDirectory ?? '')
  writeFileSync(messagePath ?? '', '')
  const own = { workDirectory: workDirectory ?? '', messagePath: messagePath ?? '' }
  const view = createView({ mounts } as ContainerConfig, own, isRoot ? undefined : stranger, undefined)
  const paths = { root: root ?? '', script: join(directory, 'script'), table: join(directory, 'table') }
  const close = prepareView(view, paths, true)
  return (look = ':') => {
    const script = `PATH=/usr/sbin:/usr/bin:/sbin:/bin; . "$1"; cd "$2"; ${look}`
    const argv = ['--mount', '--propagation', 'slave', '--', '/bin/sh', '-c', script, 'test', paths.script, paths.root]
    const { status, stdout, stderr } = spawnSync('unshare', argv, { encoding: 'utf8' })
    close()
    return { status, said: `${stdout}${stderr}` }
  }
}

const at = (containerPath: string, hostPath: string, more: Partial<Mount> = {}): Mount => ({
  name: 'data',
  containerPath,
  hostPath,
  ...more,
})

function directories() {
  const top = realpathSync(temporaryDirectory())
  for (const name of ['outer', 'outer/in', 'inner', 'elsewhere']) mkdirSync(join(top, name))
  for (const name of ['outer/in', 'inner', 'elsewhere']) writeFileSync(join(top, name, 'file'), name)
  return { outer: join(top, 'outer'), inner: join(top, 'inner'), elsewhere: join(top, 'elsewhere') }
}

const canBe = runsAsRoot() && privateMountsProblem() === undefined

describe.skipIf(!canBe)('the view that root makes', { meta: { needs: 'root and mount namespaces' } }, () => {
  it('has volumes where they were planned', () => {
    const { outer, inner } = directories()
    const make = prepared([at('/media', outer), at('/media/in', inner)])
    expect(make('cat media/in/file')).toEqual({ status: 0, said: 'inner' })
  })

  it('is made at once of what nobody but root can change', () => {
    const make = prepared([at('/media', '/usr/share'), at('/srv', '/usr/lib')], true)
    expect(make('[ media -ef /usr/share ] && [ srv -ef /usr/lib ]; echo $?; grep -c /proc/self/fd ../script')).toEqual({
      status: 1,
      said: '0\n0\n',
    })
  })

  it('has sockets, unless others may replace them', async () => {
    const { outer } = directories()
    const own = mkdtempSync('/run/coracle-')
    onTestFinished(() => rmSync(own, { recursive: true }))
    const listen = async (path: string) => {
      const server = createServer().listen(path)
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      return path
    }
    const make = prepared([at('/media', outer), at('/run/own/socket', await listen(join(own, 'socket')))], true)
    expect(make(`[ run/own/socket -ef ${own}/socket ]; echo $?`)).toEqual({ status: 0, said: '0\n' })
    const shared = await listen(join(outer, 'socket'))
    expect(() => prepared([at('/media/x', shared)], true)).toThrow(
      `volume "data" cannot be mounted at /media/x: ${outer}/socket is neither a file nor a directory, and others than root may replace it`,
    )
  })

  it.each([
    ['its user', false],
    ['whoever shares a volume with root', true],
  ])('is not made where %s has a volume mounted elsewhere', (_, isRoot) => {
    const { outer, inner, elsewhere } = directories()
    const make = prepared([at('/media', outer), at('/media/in', inner)], isRoot)
    renameSync(join(outer, 'in'), join(outer, 'was'))
    symlinkSync(elsewhere, join(outer, 'in'))
    expect(make(`cat ${elsewhere}/file`)).toEqual({ status: 128, said: '/media/in has been changed\n' })
    expect(readFileSync(join(elsewhere, 'file'), 'utf8')).toBe('elsewhere')
  })

  it('is not made where a directory of the host is another meanwhile', () => {
    const { outer, elsewhere } = directories()
    const make = prepared([at(join(outer, 'in'), '/usr/share')], true)
    renameSync(join(outer, 'in'), join(outer, 'was'))
    symlinkSync(elsewhere, join(outer, 'in'))
    expect(make()).toEqual({ status: 128, said: `${outer}/in has been changed\n` })
  })

  it('is compared with what was planned also in a volume that others can have lead elsewhere', () => {
    const { outer } = directories()
    const make = prepared([at(join(outer, 'in'), '/usr'), at(join(outer, 'in/share'), '/usr/lib')], true)
    expect(make('grep -c "has been changed" ../script')).toEqual({ status: 0, said: '4\n' })
  })

  it('is not planned with a part of a volume that has become a link', () => {
    const { outer, elsewhere } = directories()
    symlinkSync(elsewhere, join(outer, 'link'))
    const mount = at('/media', join(outer, 'link'), { volumePath: outer })
    expect(() => prepared([mount])).toThrow(`${outer}/link is a link`)
  })

  it('is not made where its user has something else mounted', () => {
    const { outer, elsewhere } = directories()
    const make = prepared([at('/media', join(outer, 'in'), { volumePath: outer })])
    renameSync(join(outer, 'in'), join(outer, 'was'))
    symlinkSync(elsewhere, join(outer, 'in'))
    expect(make('cat media/file')).toEqual({ status: 128, said: '/media has been changed\n' })
  })
})
