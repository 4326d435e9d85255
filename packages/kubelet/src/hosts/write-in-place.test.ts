import { existsSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryDirectory } from '../testing/temporary-directory.ts'
import { writeInPlace } from './write-in-place.ts'

const path = () => join(temporaryDirectory(), 'hosts')
const create = { create: true }
const rewrite = { create: false }

it('makes a file that everybody may read, whatever is usual here', async () => {
  const file = path()
  const umask = process.umask(0o077)
  onTestFinished(() => void process.umask(umask))
  await writeInPlace(file, 'a\n', create)
  expect(readFileSync(file, 'utf8')).toBe('a\n')
  expect(statSync(file).mode & 0o777).toBe(0o644)
})

it.each(['longer text\n', 's\n', ''])('has the same file hold another text: %j', async (text) => {
  const file = path()
  await writeInPlace(file, 'some text\n', create)
  const { ino } = statSync(file)
  await writeInPlace(file, text, rewrite)
  expect(readFileSync(file, 'utf8')).toBe(text)
  expect(statSync(file).ino).toBe(ino)
})

it('shows nothing of an old line while it makes the file shorter', async () => {
  const file = path()
  await writeInPlace(file, 'a longer\nold text\n', create)
  const handle = await open(file)
  await handle.close()
  const seen: string[] = []
  const truncate = vi.spyOn(Object.getPrototypeOf(handle), 'truncate').mockImplementation(async () => {
    seen.push(readFileSync(file, 'utf8'))
  })
  onTestFinished(() => truncate.mockRestore())
  await writeInPlace(file, 'short\n', rewrite)
  expect(seen).toEqual([`short\n${'\n'.repeat('a longer\nold text\n'.length - 'short\n'.length)}`])
})

it('leaves a file alone that holds the text', async () => {
  const file = path()
  await writeInPlace(file, 'text\n', create)
  utimesSync(file, 1, 1)
  await writeInPlace(file, 'text\n', rewrite)
  expect(statSync(file).mtimeMs).toBe(1000)
  await writeInPlace(file, 'test\n', rewrite)
  expect(statSync(file).mtimeMs).toBeGreaterThan(1000)
})

it('makes no file where there is none to rewrite', async () => {
  const file = path()
  await expect(writeInPlace(file, 'text\n', rewrite)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(existsSync(file)).toBe(false)
})

it('takes back what somebody has written there, however much', async () => {
  const file = path()
  writeFileSync(file, '')
  truncateSync(file, 2 ** 35)
  await writeInPlace(file, 'text\n', rewrite)
  expect(readFileSync(file, 'utf8')).toBe('text\n')
})
