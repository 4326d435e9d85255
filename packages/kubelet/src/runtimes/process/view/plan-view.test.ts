import { describe, expect, it } from 'vitest'
import { planView, rebuiltNamesMax, type ViewMount } from './plan-view.ts'
import { type FoundFile, type HostFiles, ViewFiles } from './view-files.ts'

/** A host of the test's: directories end in a slash, links name where they lead, and all belongs to root unless `owners` says otherwise. */
function host(paths: readonly string[], owners: Readonly<Record<string, Partial<FoundFile>>> = {}): HostFiles {
  const found = new Map<string, FoundFile>([['/', { kind: 'directory', mode: 0o40755, uid: 0, gid: 0 }]])
  for (const line of paths) {
    const [path = '', leadsTo] = line.split(' -> ')
    const kind = leadsTo !== undefined ? 'link' : path.endsWith('/') ? 'directory' : 'file'
    const name = path.replace(/\/$/, '')
    const mode = kind === 'directory' ? 0o40755 : 0o100644
    found.set(name, { kind, mode, uid: 0, gid: 0, ...(leadsTo === undefined ? {} : { leadsTo }), ...owners[name] })
  }
  return {
    look: (path) => found.get(path),
    names: (directory) =>
      [...found.keys()].flatMap((path) => {
        const parent = path.slice(0, path.lastIndexOf('/')) || '/'
        return path !== '/' && parent === directory ? [path.slice(path.lastIndexOf('/') + 1)] : []
      }),
  }
}

const usual = host([
  '/etc/',
  '/etc/hosts',
  '/etc/mtab -> ../proc/self/mounts',
  '/etc/ssl/',
  '/bin -> usr/bin',
  '/usr/',
  '/usr/bin/',
  '/usr/bin/sh',
  '/run/',
  '/run/lock/',
  '/var/',
  '/var/run -> /run',
  '/proc/',
  '/round -> /round',
  '/vol/',
  '/vol/file',
  '/vol/sub/',
  '/vol/out -> /etc',
  '/other/',
])

const mount = (containerPath: string, source = '/vol', more: Partial<ViewMount> = {}): ViewMount => ({
  name: 'data',
  containerPath,
  source,
  readOnly: false,
  recursiveReadOnly: false,
  followsHost: false,
  ...more,
})

const plan = (...mounts: readonly ViewMount[]) => planView(mounts, usual)

describe('a volume over what the host has', () => {
  it.each([
    ['/etc/ssl', '/vol', '/etc/ssl'],
    ['/etc/ssl/', '/vol', '/etc/ssl'],
    ['/etc/hosts', '/vol/file', '/etc/hosts'],
    ['/bin/sh', '/vol/file', '/usr/bin/sh'],
    ['/var/run/lock', '/vol', '/run/lock'],
    ['/etc/../run/./lock', '/vol', '/run/lock'],
  ])('at %s needs nothing made', (path, source, target) => {
    const { rebuilt, made, places } = plan(mount(path, source))
    expect({ rebuilt, made }).toEqual({ rebuilt: [], made: [] })
    expect(places).toMatchObject([{ target, source, over: target }])
  })
})

describe('a volume where the host has nothing', () => {
  it.each<[string, string, readonly string[], ReturnType<typeof planView>['made']]>([
    ['/data', '/vol', ['/'], [{ path: '/data', kind: 'directory' }]],
    ['/etc/config', '/vol', ['/', '/etc'], [{ path: '/etc/config', kind: 'directory' }]],
    ['/etc/my.conf', '/vol/file', ['/', '/etc'], [{ path: '/etc/my.conf', kind: 'file' }]],
    [
      '/var/run/secrets/one',
      '/vol',
      ['/', '/run'],
      [
        { path: '/run/secrets', kind: 'directory' },
        { path: '/run/secrets/one', kind: 'directory' },
      ],
    ],
  ])('at %s has the directories on the way rebuilt', (path, source, directories, making) => {
    const { rebuilt, made, places } = plan(mount(path, source))
    expect(rebuilt.map((each) => each.path)).toEqual(directories)
    expect(made).toEqual(making)
    expect(places[0]).toMatchObject({ target: making.at(-1)?.path, source })
    expect(places[0]).not.toHaveProperty('over')
  })

  it('has beside it what the host has, each as what it is', () => {
    const { rebuilt } = plan(mount('/etc/config'))
    expect(rebuilt).toEqual([
      {
        path: '/',
        mode: 0o40755,
        uid: 0,
        gid: 0,
        directories: ['usr', 'run', 'var', 'proc', 'vol', 'other'],
        files: [],
        links: ['bin', 'round'],
      },
      { path: '/etc', mode: 0o40755, uid: 0, gid: 0, directories: ['ssl'], files: ['hosts'], links: ['mtab'] },
    ])
  })

  it('shares directories with another', () => {
    const { rebuilt, made } = plan(mount('/etc/a/b', '/vol'), mount('/etc/a/c', '/other'))
    expect(rebuilt.map(({ path }) => path)).toEqual(['/', '/etc'])
    expect(made.map(({ path }) => path)).toEqual(['/etc/a', '/etc/a/b', '/etc/a/c'])
  })
})

describe('a volume in a volume', () => {
  it('is mounted after it, however they are listed', () => {
    const { places } = plan(mount('/data/sub', '/other'), mount('/data', '/vol'))
    expect(places.map(({ target }) => target)).toEqual(['/data', '/data/sub'])
    expect(places[1]).toMatchObject({ over: '/vol/sub' })
    expect(places[1]).not.toHaveProperty('making')
  })

  it.each([
    ['/data/a/b', '/other', 'directory'],
    ['/data/a/b', '/vol/file', 'file'],
  ])('has its place made there, where there is none', (path, source, kind) => {
    const { rebuilt, places } = plan(mount('/data'), mount(path, source))
    expect(places[1]).toMatchObject({ over: '/vol/a/b', making: { volume: '/vol', way: 'a/b', kind } })
    expect(rebuilt.map((each) => each.path)).toEqual(['/'])
  })

  it('is where links of the outer one lead in the view', () => {
    expect(plan(mount('/data'), mount('/data/out/ssl', '/other')).places[1]).toMatchObject({ target: '/etc/ssl' })
    expect(plan(mount('/etc', '/other'), mount('/data'), mount('/data/out/x')).places[2]).toMatchObject({
      target: '/etc/x',
      making: { volume: '/other', way: 'x' },
    })
  })
})

it.each<[string, readonly ViewMount[], string]>([
  ['over the root', [mount('/')], 'that is all there is'],
  ['of nothing', [mount('/data', '/nowhere')], '/nowhere is not there'],
  ['of what has become a link', [mount('/data', '/vol/out')], '/vol/out is a link'],
  ['of a file over a directory', [mount('/etc/ssl', '/vol/file')], 'a file cannot be over a directory'],
  ['of a directory over a file', [mount('/etc/hosts')], 'a directory cannot be over a file'],
  ['in a file', [mount('/etc/hosts/x')], '/etc/hosts is not a directory'],
  ['where only the kernel makes files', [mount('/proc/x')], 'nothing can be made in /proc'],
  [
    'where another volume has no place and takes none',
    [mount('/data', '/other', { readOnly: true, name: 'outer' }), mount('/data/x')],
    'it is not in volume "outer", which is read-only',
  ],
])('refuses a volume %s', (_, mounts, why) => {
  const { containerPath } = mounts.at(-1) ?? mount('/')
  expect(() => plan(...mounts)).toThrow(`volumeMount "data" cannot be mounted at ${containerPath}: ${why}`)
})

it('refuses a path that goes round in circles', () => {
  expect(() => plan(mount('/round/data'))).toThrow('/round/data goes through too many links')
})

it('refuses to rebuild a directory with very many names', () => {
  const names = Array.from({ length: rebuiltNamesMax + 1 }, (_, index) => `/many/${index}`)
  const full = host(['/many/', '/vol/', ...names])
  expect(() => planView([mount('/many/data')], full)).toThrow(
    'cannot be mounted at /many/data: /many of this host does not have it, and has more than 4096 other names',
  )
  expect(planView([mount('/many/1', '/many/2')], full).rebuilt).toEqual([])
})

it.each<[string, Partial<FoundFile>]>([
  ['is another’s', { uid: 1000 }],
  ['others may write to', { mode: 0o41777 }],
  ['a group may write to', { mode: 0o40775 }],
])('does not rebuild for another user what %s', (_, owner) => {
  const files = host(['/home/', '/vol/'], { '/home': owner })
  expect(() => planView([mount('/home/data')], files, true)).toThrow(
    '/home of this host does not have it, and is not root’s alone'.replace('’', "'"),
  )
  expect(planView([mount('/home/data')], files).rebuilt).toHaveLength(2)
  expect(planView([mount('/home')], files, true).rebuilt).toEqual([])
})

describe('the files of a view', () => {
  const { places, made } = plan(mount('/data/in'), mount('/etc/hosts', '/vol/file'))
  const files = new ViewFiles(places, made, usual)

  it.each([
    ['/etc/ssl', '/etc/ssl'],
    ['/etc/hosts', '/vol/file'],
    ['/data/in', '/vol'],
    ['/data/in/sub/../file', '/vol/file'],
    ['/data/in/out/hosts', '/vol/file'],
    ['/bin/sh', '/usr/bin/sh'],
    ['/data', undefined],
  ])('at %s are on the host at %s', (path, expected) => {
    expect(files.hostPath(path)).toBe(expected)
  })
})
