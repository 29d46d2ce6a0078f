import { propertiesXml } from './agent-configuration.ts';

export const AGENT_ID = 'room-1';

export const AGENT = {
  agent_id: AGENT_ID,
  status: 'idle',
  inputs: ['camera', 'screen'],
  update: '2026-10-12T08:15:00Z',
  url: 'http://room-1.example.org:8000',
};

export const CONFIGURATION = {
  'capture.device.names': 'camera,screen',
  'capture.device.timezone': 'Europe/Berlin',
};

export const CONFIGURATION_XML = propertiesXml(new Map(Object.entries(CONFIGURATION)), `Configuration of ${AGENT_ID}`);
