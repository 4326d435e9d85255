import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { commitOf } from './source-commit.ts'

const commit = '1e207a28f6c0dfae7115e33ebee04f09810d2b73'
const other = '0123456789012345678901234567890123456789'

/** A directory with these files. */
function directoryWith(files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'source-commit-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), text)
  }
  return directory
}

it.each<readonly [string, Readonly<Record<string, string>>, string]>([
  ['on a branch', { '.git/HEAD': 'ref: refs/heads/main\n', '.git/refs/heads/main': `${commit}\n` }, commit],
  [
    'on a branch that is packed',
    {
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/packed-refs': `# pack-refs\n${other} refs/heads/mai\n${commit} refs/heads/main\n`,
    },
    commit,
  ],
  ['on no branch', { '.git/HEAD': `${commit}\n` }, commit],
  [
    'in a further work tree',
    {
      '.git': 'gitdir: repository/worktrees/a\n',
      'repository/worktrees/a/HEAD': 'ref: refs/heads/a\n',
      'repository/worktrees/a/commondir': '../..\n',
      'repository/refs/heads/a': `${commit}\n`,
    },
    commit,
  ],
  ['without a commit', { '.git/HEAD': 'ref: refs/heads/main\n' }, ''],
  ['that is none', {}, ''],
])('tells the commit of a checkout %s', (_, files, expected) => {
  expect(commitOf(directoryWith(files))).toBe(expected)
})
