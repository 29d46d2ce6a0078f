/** Another host was not reached, or said nothing that can be read. The message is a reason without a capital and a full stop. */
export class OutboundFault extends Error {
  override name = 'OutboundFault';
}
