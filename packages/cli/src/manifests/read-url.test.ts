import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { CliError } from '../cli-error.ts'
import { readUrl } from './read-url.ts'

/** The address of a server that answers so. */
async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.yaml`
}

const tooLarge = () => new CliError('too large')

it('asks again where a server fails, and not where it refuses', async () => {
  const codes = [503, 500, 200]
  const url = await serving((_, response) => void response.writeHead(codes.shift() ?? 404).end('text'))
  expect(await readUrl(url, 10, tooLarge)).toBe('text')
  await expect(readUrl(url, 10, tooLarge)).rejects.toThrow(
    `unable to read URL "${url}", server reported 404 Not Found, status code=404`,
  )
  expect(codes).toEqual([])
})

it('gives up after three times', async () => {
  let asked = 0
  const url = await serving((_, response) => {
    asked += 1
    response.writeHead(503).end()
  })
  await expect(readUrl(url, 10, tooLarge)).rejects.toThrow('server reported 503 Service Unavailable, status code=503')
  expect(asked).toBe(3)
})

it('takes nothing for a manifest that is none, or too much', async () => {
  await expect(
    readUrl(await serving((_, response) => void response.writeHead(204).end()), 10, tooLarge),
  ).rejects.toThrow('status code=204')
  await expect(
    readUrl(await serving((_, response) => void response.end('more than that')), 10, tooLarge),
  ).rejects.toThrow('too large')
})
