package events

// Labels are a room, a thing and a number: 25 * 40 * 100 of them.
var (
	rooms = [25]string{
		"attic", "back porch", "balcony", "basement", "bathroom", "bedroom", "carport", "cellar", "corridor", "dining room",
		"entrance", "front yard", "garage", "garden", "guest room", "kitchen", "laundry room", "library", "living room", "nursery",
		"office", "pantry", "staircase", "terrace", "workshop",
	}
	things = [40]string{
		"air conditioner", "alarm siren", "blind motor", "boiler pump", "ceiling fan", "ceiling light", "coffee machine", "dehumidifier",
		"desk lamp", "dishwasher", "door sensor", "dryer outlet", "electric heater", "extractor hood", "floor lamp", "freezer outlet",
		"fridge outlet", "heat pump", "humidifier", "induction hob", "light switch", "motion sensor", "oven outlet", "pool pump",
		"power strip", "radiator valve", "security camera", "smart speaker", "smoke detector", "solar inverter", "sump pump", "television set",
		"thermostat", "towel heater", "vacuum dock", "wall charger", "wall light", "washing machine", "water heater", "window sensor",
	}
)

const labels = len(rooms) * len(things) * 100

// appendLabel appends label n.
func appendLabel(dst []byte, n int32) []byte {
	number := n % 100
	n /= 100
	dst = append(dst, rooms[n%int32(len(rooms))]...)
	dst = append(dst, ' ')
	dst = append(dst, things[n/int32(len(rooms))]...)
	return append(dst, ' ', byte('0'+number/10), byte('0'+number%10))
}
