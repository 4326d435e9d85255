import { once } from 'node:events'
import { createServer } from 'node:net'
import { takeNumber } from '@coracle/environment/testing/own-number'

/** Ports below those that systems give to who leaves the choice to them, and that are well known for nothing. */
const first = 20_000
const count = 10_000

/** How many ports lie between those that two processes begin with, which have been started one after the other. */
const share = 97

let next = process.pid * share

/**
 * So many free ports of 127.0.0.1 for a server that another process is: no other process is given one of them, neither to listen nor to
 * connect from, before that server listens or while it starts again. They are this process's for as long as it runs.
 */
export async function ownPorts(wanted: number): Promise<readonly number[]> {
  const found: number[] = []
  for (let tries = 0; found.length < wanted; tries++) {
    if (tries > count) throw new Error(`there are no ${wanted} free ports from ${first} on`)
    const port = first + (next++ % count)
    if ((await isFree(port)) && (await takeNumber(port))) found.push(port)
  }
  return found
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
