"""Random messages of any type, with a taste for the edges of every kind of value."""

import struct
from random import Random

from google.protobuf.descriptor import FieldDescriptor as Field

LARGEST_FLOAT = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e-45, 1.17549435e-38, LARGEST_FLOAT, 16777216.0, 1e20, float("inf"), float("-inf"), float("nan")]
DOUBLES = [*FLOATS, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 9007199254740993.0, 0.1 + 0.2, 1e21, 123456789.125]
TEXTS = ["", "a", "grün", "\U0001f600 ✓", "line\nline", "tab\t\r\x07\x1b", "\"quoted\" 'too' \\", "\x7f\x80\x9f", "a\0b", "</script>", "\ufeff\ufffd", "x" * 200]


class RandomMessages:
    """Makes messages; the same seed gives the same ones."""

    def __init__(self, pool, seed, any_types=(), *, zero_bytes_in_text=True, without=()):
        self.pool = pool
        self.random = Random(seed)
        self.any_types = any_types
        # The types of fields that stay unset.
        self.without = without
        self.texts = [text for text in TEXTS if zero_bytes_in_text or "\0" not in text]

    def fill(self, message, depth=0, density=0.25):
        special = getattr(self, "fill_" + message.DESCRIPTOR.full_name.replace(".", "_"), None)
        if special:
            special(message, depth)
            return message
        extensions = self.pool.FindAllExtensions(message.DESCRIPTOR) if message.DESCRIPTOR.is_extendable else []
        extensions = sorted(extensions, key=lambda field: field.number)
        for field in [*message.DESCRIPTOR.fields, *extensions]:
            if field.is_required or self.random.random() < density:
                self.set(message, field, depth)
        return message

    def set(self, message, field, depth):
        if field.message_type and (depth >= 3 or field.message_type.full_name in self.without):
            return
        if field.message_type and field.message_type.GetOptions().map_entry:
            self.add_entries(getattr(message, field.name), field, depth)
        elif field.is_repeated:
            values = message.Extensions[field] if field.is_extension else getattr(message, field.name)
            for _ in range(self.random.choice([0, 1, 1, 2, 5])):
                if field.message_type:
                    self.fill(values.add(), depth + 1, 0.15)
                else:
                    values.append(self.value(field))
        elif field.message_type:
            nested = message.Extensions[field] if field.is_extension else getattr(message, field.name)
            nested.SetInParent()
            self.fill(nested, depth + 1, 0.15)
        elif field.is_extension:
            message.Extensions[field] = self.value(field)
        else:
            setattr(message, field.name, self.value(field))

    def add_entries(self, entries, field, depth):
        key, value = (field.message_type.fields_by_number[number] for number in (1, 2))
        for _ in range(self.random.choice([0, 1, 1, 2, 5])):
            if value.message_type:
                self.fill(entries[self.value(key)], depth + 1, 0.15)
            else:
                entries[self.value(key)] = self.value(value)

    # Single values

    def value(self, field):
        match field.cpp_type:
            case Field.CPPTYPE_INT32: return self.integer(32, signed=True)
            case Field.CPPTYPE_INT64: return self.integer(64, signed=True)
            case Field.CPPTYPE_UINT32: return self.integer(32, signed=False)
            case Field.CPPTYPE_UINT64: return self.integer(64, signed=False)
            case Field.CPPTYPE_BOOL: return self.random.random() < 0.5
            case Field.CPPTYPE_FLOAT: return self.float()
            case Field.CPPTYPE_DOUBLE: return self.double()
            case Field.CPPTYPE_ENUM: return self.enum(field.enum_type)
        return self.text() if field.type == Field.TYPE_STRING else self.bytes()

    def integer(self, bits, *, signed):
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        edges = [0, 1, 127, 128, 1 << 31, (1 << 53) + 1, low, high, -1, -64, -65]
        number = self.random.choice([*edges, self.random.getrandbits(bits), self.random.getrandbits(bits // 2)])
        return number if low <= number <= high else low + number % (high - low + 1)

    def float(self):
        any_bits = struct.unpack("<f", struct.pack("<I", self.random.getrandbits(32)))[0]
        # Signalling and other NaNs lose their bits on the way through Python.
        return self.random.choice([*FLOATS, any_bits if any_bits == any_bits else 0.5])

    def double(self):
        any_bits = struct.unpack("<d", struct.pack("<Q", self.random.getrandbits(64)))[0]
        return self.random.choice([*DOUBLES, any_bits if any_bits == any_bits else 0.5, self.random.uniform(-1e6, 1e6)])

    def text(self):
        letters = "".join(chr(self.random.choice([*range(1, 0x250), 0x4E2D, 0x1F600])) for _ in range(self.random.randrange(12)))
        return self.random.choice([*self.texts, letters])

    def bytes(self):
        return self.random.choice([b"", b"\0", b"\xff\xfe", self.random.randbytes(self.random.randrange(40))])

    def enum(self, type):
        numbers = [value.number for value in type.values]
        # JSON's null has no other numbers.
        if not type.is_closed and len(numbers) > 1 and self.random.random() < 0.2:
            return self.integer(32, signed=True)
        return self.random.choice(numbers)

    # Well-known types, without the values that have no JSON

    def fill_google_protobuf_Timestamp(self, message, depth):
        message.seconds = self.random.choice([-62135596800, 253402300799, 0, -1, self.random.randrange(-62135596800, 253402300799)])
        message.nanos = self.nanos()

    def fill_google_protobuf_Duration(self, message, depth):
        sign = self.random.choice([1, -1])
        message.seconds = sign * self.random.choice([0, 1, 315576000000 - 1, self.random.randrange(1 << 30)])
        message.nanos = sign * self.nanos()

    def nanos(self):
        return self.random.choice([0, 1, 999999999, 500000000, 120000, self.random.randrange(1000000000)])

    def fill_google_protobuf_FieldMask(self, message, depth):
        message.paths.extend(self.random.choices(["a", "foo_bar", "a.b_c.d", "x1.y"], k=self.random.randrange(4)))

    def fill_google_protobuf_Value(self, message, depth):
        kinds = ["null_value", "number_value", "string_value", "bool_value"]
        match self.random.choice(kinds if depth >= 4 else [*kinds, "struct_value", "list_value"]):
            case "null_value": message.null_value = 0
            case "number_value": message.number_value = self.random.choice([0, -0.5, 1e300, 123456, 0.1])
            case "string_value": message.string_value = self.text()
            case "bool_value": message.bool_value = self.random.random() < 0.5
            case "struct_value": message.struct_value.SetInParent(); self.fill_google_protobuf_Struct(message.struct_value, depth + 1)
            case "list_value": message.list_value.SetInParent(); self.fill_google_protobuf_ListValue(message.list_value, depth + 1)

    def fill_google_protobuf_Struct(self, message, depth):
        for _ in range(self.random.randrange(3)):
            self.fill_google_protobuf_Value(message.fields[self.text()], depth + 1)

    def fill_google_protobuf_ListValue(self, message, depth):
        for _ in range(self.random.randrange(3)):
            self.fill_google_protobuf_Value(message.values.add(), depth + 1)

    def fill_google_protobuf_Any(self, message, depth):
        if self.random.random() < 0.1:
            return
        content = self.random.choice(self.any_types)()
        if content.DESCRIPTOR.full_name.startswith("google."):
            self.fill(content, depth + 1)
        else:
            # Neither maps nor extensions, because Python orders them differently.
            for field in content.DESCRIPTOR.fields:
                if not field.message_type and self.random.random() < 0.2:
                    self.set(content, field, depth + 1)
        message.type_url = "type.googleapis.com/" + content.DESCRIPTOR.full_name
        message.value = content.SerializeToString(deterministic=True)
