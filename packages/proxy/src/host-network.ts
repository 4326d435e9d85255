import type { Socket as UdpSocket } from 'node:dgram'
import type { Duplex } from 'node:stream'
import type { Clock } from '@coracle/environment'
import { answerHealth } from './health.ts'
import { type ConnectThroughNode, type Network, Places } from './network.ts'
import { listenTcp } from './tcp.ts'
import { listenUdp } from './udp.ts'

/** The sockets of this host, and beyond it the way to pods through their nodes, if there is one. */
export function hostNetwork(clock: Clock, throughNode?: ConnectThroughNode): Network {
  const places = new Places()
  const connections = new Set<Duplex>()
  const datagrams = new Set<UdpSocket>()
  return {
    listen(frontend, balancer) {
      if (frontend.answer !== undefined) return frontend.answer(frontend)
      if (frontend.healthOf !== undefined) return answerHealth(frontend, frontend.healthOf, balancer)
      return frontend.protocol === 'TCP'
        ? listenTcp(frontend, balancer, {
            places,
            clock,
            sockets: connections,
            ...(throughNode === undefined ? {} : { throughNode }),
          })
        : listenUdp(frontend, balancer, { places, clock, sockets: datagrams })
    },
    close() {
      for (const socket of connections) socket.destroy()
    },
  }
}
