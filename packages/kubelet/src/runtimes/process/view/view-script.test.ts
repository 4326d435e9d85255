import { describe, expect, it } from 'vitest'
import type { Place, RebuiltDirectory } from './plan-view.ts'
import { type ScriptParts, viewScript } from './view-script.ts'

const parts: ScriptParts = {
  root: '/c/root',
  tablePath: '/c/table',
  mountsOf: (path) => ({
    options: path.startsWith('/tmp') ? ['rw', 'nosuid', 'relatime', 'noexec'] : ['rw'],
    below: [],
  }),
}

const place = (more: Partial<Place> = {}): Place => ({
  name: 'data',
  target: '/data',
  source: '/vol',
  readOnly: false,
  recursiveReadOnly: false,
  followsHost: false,
  ...more,
})

const rebuilt = (more: Partial<RebuiltDirectory>): RebuiltDirectory => ({
  path: '/',
  mode: 0o40755,
  uid: 0,
  gid: 0,
  directories: [],
  files: [],
  links: [],
  ...more,
})

const made = (...places: readonly Place[]) => viewScript({ rebuilt: [], made: [], places }, parts)

it('has all of the host where nothing is rebuilt, and what is mounted over it', () => {
  expect(made(place({ target: '/etc/hosts', source: '/vol/hosts' }))).toEqual({
    script: `mount -c -a -T '/c/table' || exit 128\n`,
    table: '/ /c/root none rbind 0 0\n/vol/hosts /c/root/etc/hosts none rbind,rprivate 0 0\n',
  })
})

it('is in place where it is the root itself', () => {
  const places = [place({ target: '/etc/hosts', source: '/vol/hosts' })]
  expect(viewScript({ rebuilt: [], made: [], places }, { ...parts, root: '/' }).table).toBe(
    '/vol/hosts /etc/hosts none rbind,rprivate 0 0\n',
  )
})

describe('a volume', () => {
  it.each<[string, Partial<Place>, string]>([
    ['that the host mounts in later is not seen to', {}, 'rbind,rprivate'],
    ['that the host mounts in later is seen to, where that is asked for', { followsHost: true }, 'rbind'],
    ['is read-only', { readOnly: true }, 'rbind,rprivate,ro'],
    [
      'is read-only and keeps what holds for its mount',
      { readOnly: true, source: '/tmp/x' },
      'rbind,rprivate,ro,nosuid,noexec',
    ],
  ])('%s', (_, more, options) => {
    expect(made(place(more)).table).toContain(` /c/root/data none ${options} 0 0\n`)
  })

  it('may have names that the table or the script would take for something else', () => {
    const { table } = made(place({ target: `/it's a #1\\\n`, source: '/a\tb' }))
    expect(table).toContain(`/a\\011b /c/root/it's\\040a\\040\\0431\\134\\012 none`)
    expect(made(place({ target: '/a\u00a0b\u3000c' })).table).toContain('/c/root/a\u00a0b\u3000c none')
    const odd = [{ path: `/it's`, kind: 'directory' as const }]
    expect(viewScript({ rebuilt: [rebuilt({})], made: odd, places: [] }, parts).script).toContain(
      `mkdir -p -- './' './it'\\''s' ||`,
    )
  })

  it('is read-only with all that is mounted in it, where that is asked for', () => {
    const mountsOf: ScriptParts['mountsOf'] = (path) => ({
      options: path === '/vol/in' ? ['nodev'] : [],
      below: path === '/vol' ? ['/vol/in'] : [],
    })
    const places = [place({ readOnly: true, recursiveReadOnly: true })]
    expect(viewScript({ rebuilt: [], made: [], places }, { ...parts, mountsOf }).script).toContain(
      `mount -o remount,bind,ro,nodev none '/c/root/data/in' || exit 128\n`,
    )
  })

  it('is compared with what was planned, before and after it is mounted, where its user might change that', () => {
    const guard = { agentPid: 7, from: 1, handles: [{ over: 21, source: 22 }] }
    const { script, table } = viewScript(
      { rebuilt: [], made: [], places: [place({ target: '/first' }), place({ readOnly: true })] },
      { ...parts, guard },
    )
    expect(table).toBe('/ /c/root none rbind 0 0\n/vol /c/root/first none rbind,rprivate 0 0\n')
    expect(script.match(/-ef \S+|mount -c --[^|]*/g)).toEqual([
      '-ef /proc/7/fd/21',
      `mount -c --rbind '/vol' /proc/self/fd/6 `,
      '-ef /proc/7/fd/22',
      'mount -c --make-rprivate -o remount,bind,ro none /proc/self/fd/6 ',
    ])
  })
})

it('mounts what nobody can change as it is, also after what others may', () => {
  const guard = { agentPid: 7, from: 0, handles: [{ over: 21, source: 22 }, undefined, undefined] }
  const places = [place(), place({ target: '/a b' }), place({ target: '/c', readOnly: true, followsHost: true })]
  const { script } = viewScript({ rebuilt: [], made: [], places }, { ...parts, guard })
  expect(script.replaceAll(' || exit 128\n', '\n').split('exec 6<&-\n').at(-1)?.split('\n')).toEqual([
    `mount -c --rbind '/vol' '/c/root/a b'`,
    `mount -c --make-rprivate '/c/root/a b'`,
    `mount -c --rbind '/vol' '/c/root/c'`,
    `mount -c -o remount,bind,ro none '/c/root/c'`,
    '',
  ])
})

it('rebuilds directories with what the host has there: mounts over empty directories and files, and links', () => {
  const { script, table } = viewScript(
    {
      rebuilt: [
        rebuilt({ directories: ['usr'], links: ['bin', 'lib'] }),
        rebuilt({ path: '/tmp', mode: 0o41777, uid: 3, files: ['x'] }),
      ],
      made: [
        { path: '/tmp/data', kind: 'directory' },
        { path: '/tmp/file', kind: 'file' },
      ],
      places: [],
    },
    parts,
  )
  expect(script.replaceAll(' || exit 128\n', '\n').split('\n')).toEqual([
    `mount -t tmpfs --make-unbindable -o mode=755,size=67108864 tmpfs '/c/root'`,
    `cd '/c/root'`,
    `mkdir -p -- './' './tmp' './usr' './tmp/data'`,
    `: >'./tmp/x'`,
    `: >'./tmp/file'`,
    `{ cp -P -- '/bin' '/lib' './/' || :; }`,
    `chmod 1777 './tmp'`,
    `{ chown 3:0 './tmp' 2>/dev/null || :; }`,
    'cd /',
    `mount -c -a -T '/c/table'`,
    '',
  ])
  expect(table).toBe('/usr /c/root/usr none rbind,nofail 0 0\n/tmp/x /c/root/tmp/x none rbind,nofail 0 0\n')
})
